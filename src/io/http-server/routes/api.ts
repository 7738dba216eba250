import type { FastifyInstance } from "fastify";
import type { Query } from "../../../views/api/events.ts";
import { type HealthQuery, healthJson, protocolHealthJson } from "../../../views/api/health.ts";
import { historyJson } from "../../../views/api/history.ts";
import { describeMissing, keepTargets, selectTargets } from "../../../views/api/selection.ts";
import { sendOfReport } from "./bodies.ts";
import { JSON_TYPE, sendJson, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface PairRoute {
  readonly Params: { readonly protocol: string; readonly chain: string };
  readonly Querystring: Query;
}

interface HealthRoute extends Pick<PairRoute, "Querystring"> {
  readonly Params: { readonly protocol: string; readonly chain?: string };
}

const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = "24";
const MOST_POINTS = "10000";

/** The JSON API: its description, and the report, whole or for one protocol and chain. */
export function addApiRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/openapi.json", async (_request, reply) => {
    // On demand: its schemas would add 10 ms to the start.
    const { openapiDocument } = await import("../../../views/api/openapi.ts");
    return sendJson(reply, openapiDocument(source.version));
  });

  server.get("/api/v1/status", async (_request, reply) => {
    const report = source.report();
    return await sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(report));
  });

  server.get<PairRoute>("/api/v1/status/:protocol/:chain", async ({ params }, reply) => {
    const report = source.report();
    const targets = selectTargets(report.targets, params);
    return targets.length === 0
      ? sendProblem(reply, 404, describeMissing(report.targets, params))
      : await sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(keepTargets(report, targets)));
  });

  // For load balancers and front ends: 200 where traffic may go there, else 503.
  for (const path of ["/api/v1/health/:protocol", "/api/v1/health/:protocol/:chain"]) {
    server.get<HealthRoute>(path, ({ params, query }, reply) => {
      const question = readHealthQuery(params.protocol, query);
      if (typeof question === "string") {
        return sendProblem(reply, 400, question);
      }
      const report = source.report();
      const { chain } = params;
      const json =
        chain === undefined
          ? protocolHealthJson(report, question)
          : healthJson(report, { ...question, chain });
      const wanted = { ...question, chain, tier: question.tier ?? "production" };
      return json === null
        ? sendProblem(reply, 404, describeMissing(report.targets, wanted))
        : sendJson(reply.code(json.healthy ? 200 : 503), json);
    });
  }

  // What the plots are drawn from.
  server.get<PairRoute>("/api/v1/history/:protocol/:chain", async ({ params, query }, reply) => {
    const { hours = DEFAULT_HOURS, points = MOST_POINTS } = query;
    if (typeof hours !== "string" || !/^\d{1,3}(\.\d{1,3})?$/.test(hours) || Number(hours) === 0) {
      return sendProblem(reply, 400, `Cannot use hours ${quoted(hours)}: expected a number such as 6`);
    }
    if (typeof points !== "string" || !/^[1-9]\d{0,4}$/.test(points)) {
      return sendProblem(
        reply,
        400,
        `Cannot use points ${quoted(points)}: expected a whole number such as 300`,
      );
    }
    const report = source.report();
    const targets = selectTargets(report.targets, params);
    if (targets.length === 0) {
      return sendProblem(reply, 404, describeMissing(report.targets, params));
    }
    const toMs = Date.parse(report.generated_at);
    const span = { fromMs: toMs - Number(hours) * HOUR_MS, toMs, points: Number(points) };
    const keys = targets.map(({ key }) => key);
    return await sendOfReport(reply.type(JSON_TYPE), report, () =>
      JSON.stringify(historyJson(report, targets, source.past(params.chain, keys, span))),
    );
  });
}

/** The question of a request, or one sentence about what is wrong with it. */
function readHealthQuery(
  protocol: string,
  { max_lag: maxLag, variant = "", tier = "", parity = "" }: HealthRoute["Querystring"],
): Omit<HealthQuery, "chain"> | string {
  // Digits, with up to three decimals; several values become one text with commas.
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(String(maxLag ?? 0))) {
    return `Cannot use max_lag ${quoted(maxLag)}: expected seconds, such as 600`;
  }
  if (typeof variant !== "string" || typeof tier !== "string") {
    return "Cannot use several variants or tiers: name at most one of each";
  }
  if (parity !== "" && parity !== "equal") {
    return `Cannot use parity ${quoted(parity)}: expected equal`;
  }
  return {
    protocol,
    ...(maxLag === undefined ? {} : { maxLagSeconds: Number(maxLag) }),
    ...(variant === "" ? {} : { variant }),
    ...(tier === "" ? {} : { tier }),
    ...(parity === "" ? {} : { parity }),
  };
}

function quoted(found: unknown): string {
  return JSON.stringify(found).slice(0, 100);
}
