import type { FastifyInstance } from "fastify";
import { type HealthQuery, healthJson } from "../../../views/api/health.ts";
import { describeMissing } from "../../../views/api/selection.ts";
import { statusJson } from "../../../views/api/status.ts";
import { sendJson, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface HealthRoute {
  readonly Params: { readonly protocol: string; readonly chain: string };
  readonly Querystring: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** For load balancers: 200 where traffic may go there, else 503. */
export function addHealthRoute(server: FastifyInstance, source: ServerDeps): void {
  server.get<HealthRoute>("/api/v1/health/:protocol/:chain", ({ params, query }, reply) => {
    const question = readQuestion(params, query);
    if (typeof question === "string") {
      return sendProblem(reply, 400, question);
    }
    const report = source.report();
    const json = healthJson(report, question);
    return json === null
      ? sendProblem(
          reply,
          404,
          describeMissing(statusJson(report).targets, { ...question, tier: question.tier ?? "production" }),
        )
      : sendJson(reply.code(json.healthy ? 200 : 503), json);
  });
}

/** The question of a request, or one sentence about what is wrong with it. */
function readQuestion(
  params: HealthRoute["Params"],
  { max_lag: maxLag, variant = "", tier = "", parity = "" }: HealthRoute["Querystring"],
): HealthQuery | string {
  // Digits, with up to three decimals; several values become one text with commas.
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(String(maxLag ?? 0))) {
    const found = JSON.stringify(maxLag).slice(0, 100);
    return `Cannot use max_lag ${found}: expected seconds, such as 600`;
  }
  if (typeof variant !== "string" || typeof tier !== "string") {
    return "Cannot use several variants or tiers: name at most one of each";
  }
  if (parity !== "" && parity !== "equal") {
    return `Cannot use parity ${JSON.stringify(parity).slice(0, 100)}: expected equal`;
  }
  return {
    ...params,
    ...(maxLag === undefined ? {} : { maxLagMs: Number(maxLag) * 1000 }),
    ...(variant === "" ? {} : { variant }),
    ...(tier === "" ? {} : { tier }),
    ...(parity === "" ? {} : { parity }),
  };
}
