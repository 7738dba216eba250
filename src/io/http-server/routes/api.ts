import type { FastifyInstance, FastifyReply } from "fastify";
import { targetsByHost } from "../../../core/model/fleet.ts";
import type { Report } from "../../../core/model/report.ts";
import { eventsJson, incidentsJson, statusHistoryJson } from "../../../views/api/events.ts";
import { healthJson, protocolHealthJson } from "../../../views/api/health.ts";
import { historyJson } from "../../../views/api/history.ts";
import { QUERIES, type Query, readQuery, readSpanQuery } from "../../../views/api/queries.ts";
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
    const asked = readQuery(QUERIES.history, query);
    if (typeof asked === "string") {
      return sendProblem(reply, 400, asked);
    }
    const report = source.report();
    const targets = selectTargets(report.targets, params);
    if (targets.length === 0) {
      return sendProblem(reply, 404, describeMissing(report.targets, params));
    }
    const toMs = Date.parse(report.generated_at);
    const span = { fromMs: toMs - asked.hours * HOUR_MS, toMs, points: asked.points };
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
      const read = readQuery(QUERIES.health, query);
      if (typeof read === "string") {
        return sendProblem(reply, 400, read);
      }
      const question = { ...read, protocol };
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
    const report = source.report();
    const asked = readSpanQuery(QUERIES.statusHistory, query, Date.parse(report.generated_at));
    if (selectTargets(report.targets, params).length === 0) {
      return sendProblem(reply, 404, describeMissing(report.targets, params));
    }
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : sendReport(reply, report, () => statusHistoryJson(report, source.events, params, asked));
  });

  server.get<Route>("/api/v1/events", ({ query }, reply) => {
    const report = source.report();
    const asked = readSpanQuery(QUERIES.events, query, Date.parse(report.generated_at));
    const hosts = targetsByHost(source.settings().fleet);
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : sendReport(reply, report, () => eventsJson(report, source.events, asked, hosts));
  });

  server.get<Route>("/api/v1/incidents", ({ query }, reply) => {
    const report = source.report();
    const asked = readSpanQuery(QUERIES.incidents, query, Date.parse(report.generated_at));
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : sendReport(reply, report, () => incidentsJson(report, source.events, asked));
  });
}

function sendReport(reply: FastifyReply, report: Report, make: () => object): Promise<FastifyReply> {
  return sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(make()));
}
