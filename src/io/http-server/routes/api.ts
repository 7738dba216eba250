import type { FastifyInstance, FastifyReply } from "fastify";
import { targetsByHost } from "../../../core/model/fleet.ts";
import type { Report } from "../../../core/model/report.ts";
import {
  type EventQuery,
  eventsJson,
  incidentsJson,
  type Query,
  quoted,
  readEventQuery,
  statusHistoryJson,
} from "../../../views/api/events.ts";
import { type HealthQuery, healthJson, protocolHealthJson } from "../../../views/api/health.ts";
import { historyJson } from "../../../views/api/history.ts";
import { describeMissing, keepTargets, selectTargets } from "../../../views/api/selection.ts";
import { sendOfReport } from "./bodies.ts";
import { JSON_TYPE, sendJson, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface Route {
  readonly Querystring: Query;
}

interface PairRoute extends Route {
  readonly Params: { readonly protocol: string; readonly chain: string };
}

interface HealthRoute extends Route {
  readonly Params: { readonly protocol: string; readonly chain?: string };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The JSON API: its description, the report, what follows from it and what happened. */
export function addApiRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/openapi.json", async (_request, reply) => {
    // On demand: its schemas would add 10 ms to the start.
    const { openapiDocument } = await import("../../../views/api/openapi.ts");
    return sendJson(reply, openapiDocument(source.version));
  });

  server.get("/api/v1/status", (_request, reply) => {
    const report = source.report();
    return sendReport(reply, report, () => report);
  });

  server.get<PairRoute>("/api/v1/status/:protocol/:chain", ({ params }, reply) => {
    const report = source.report();
    const targets = selectTargets(report.targets, params);
    return targets.length === 0
      ? sendProblem(reply, 404, describeMissing(report.targets, params))
      : sendReport(reply, report, () => keepTargets(report, targets));
  });

  // What the plots are drawn from.
  server.get<PairRoute>("/api/v1/history/:protocol/:chain", ({ params, query }, reply) => {
    const { hours = "24", points = "10000" } = query;
    if (typeof hours !== "string" || !/^\d{1,3}(\.\d{1,3})?$/.test(hours) || Number(hours) === 0) {
      return sendProblem(reply, 400, `Cannot use hours ${quoted(hours)}: expected a number such as 6`);
    }
    if (typeof points !== "string" || !/^[1-9]\d{0,4}$/.test(points)) {
      const found = `Cannot use points ${quoted(points)}: expected a whole number such as 300`;
      return sendProblem(reply, 400, found);
    }
    const report = source.report();
    const targets = selectTargets(report.targets, params);
    if (targets.length === 0) {
      return sendProblem(reply, 404, describeMissing(report.targets, params));
    }
    const toMs = Date.parse(report.generated_at);
    const span = { fromMs: toMs - Number(hours) * HOUR_MS, toMs, points: Number(points) };
    const keys = targets.map(({ key }) => key);
    return sendReport(reply, report, () =>
      historyJson(report, targets, source.past(params.chain, keys, span)),
    );
  });

  addHealthRoutes(server, source);
  addEventRoutes(server, source);
}

function addHealthRoutes(server: FastifyInstance, source: ServerDeps): void {
  // For load balancers and front ends: 200 where traffic may go there, else 503.
  for (const path of ["/api/v1/health/:protocol", "/api/v1/health/:protocol/:chain"]) {
    server.get<HealthRoute>(path, ({ params: { protocol, chain }, query }, reply) => {
      const question = readHealthQuery(protocol, query);
      if (typeof question === "string") {
        return sendProblem(reply, 400, question);
      }
      const report = source.report();
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
}

function addEventRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get<PairRoute>("/api/v1/status/:protocol/:chain/history", ({ params, query }, reply) => {
    const { targets } = source.report();
    return selectTargets(targets, params).length === 0
      ? sendProblem(reply, 404, describeMissing(targets, params))
      : sendEvents(reply, query, DAY_MS, 1_000, (report, asked) =>
          statusHistoryJson(report, source.events, params, asked),
        );
  });

  server.get<Route>("/api/v1/events", ({ query }, reply) =>
    sendEvents(reply, query, DAY_MS, 200, (report, asked) =>
      eventsJson(report, source.events, asked, targetsByHost(source.settings().fleet)),
    ),
  );

  server.get<Route>("/api/v1/incidents", ({ query }, reply) =>
    sendEvents(reply, query, 7 * DAY_MS, 200, (report, asked) => incidentsJson(report, source.events, asked)),
  );

  /** `spanMs`: how far back to go by default. */
  function sendEvents(
    reply: FastifyReply,
    query: Query,
    spanMs: number,
    limit: number,
    make: (report: Report, asked: EventQuery) => object,
  ): FastifyReply | Promise<FastifyReply> {
    const report = source.report();
    const asked = readEventQuery(query, Date.parse(report.generated_at), spanMs, limit);
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : sendReport(reply, report, () => make(report, asked));
  }
}

function sendReport(reply: FastifyReply, report: Report, make: () => object): Promise<FastifyReply> {
  return sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(make()));
}

/** The parsed parameters of a request, or a sentence about their fault. */
function readHealthQuery(
  protocol: string,
  { max_lag: maxLag, variant = "", tier = "", parity = "" }: Query,
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
    maxLagSeconds: maxLag === undefined ? undefined : Number(maxLag),
    variant: variant || undefined,
    tier: tier || undefined,
    parity: parity || undefined,
  };
}
