import type { FastifyInstance, FastifyRequest } from "fastify";
import { targetsByHost } from "../../../core/model/fleet.ts";
import type { Report, TargetReport } from "../../../core/model/report.ts";
import { eventsJson, incidentsJson, statusHistoryJson } from "../../../views/api/events.ts";
import { healthJson, protocolHealthJson } from "../../../views/api/health.ts";
import { historyJson } from "../../../views/api/history.ts";
import { QUERIES, type Query, readQuery, readSpanQuery } from "../../../views/api/queries.ts";
import { describeMissing, keepTargets, type Selection, selectTargets } from "../../../views/api/selection.ts";
import { JSON_TYPE, Problem, sendFresh, sendOfReport, valid } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface Route<Chain = string> {
  readonly Querystring: Query;
  /** As far as the path has them. */
  readonly Params: { readonly protocol: string; readonly chain: Chain };
}

const HOUR_MS = 3_600_000;

/** The JSON API: its description, the report, what follows from it and what happened. */
export function addApiRoutes(server: FastifyInstance, source: ServerDeps): void {
  const { events } = source;

  /** A route whose JSON is made from the latest report. */
  function get(path: string, make: (report: Report, request: FastifyRequest<Route>) => object): void {
    server.get<Route>(path, (request, reply) => {
      const report = source.report();
      return sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(make(report, request)));
    });
  }

  server.get("/openapi.json", async (_request, reply) => {
    // On demand: its schemas would add 10 ms to the start.
    const { openapiDocument } = await import("../../../views/api/openapi.ts");
    return sendFresh(reply, JSON_TYPE, JSON.stringify(openapiDocument(source.version)));
  });

  get("/api/v1/status", (report, { query }) => {
    valid(readQuery(QUERIES.none, query));
    return report;
  });
  get("/api/v1/status/:protocol/:chain", (report, { params, query }) => {
    valid(readQuery(QUERIES.none, query));
    return keepTargets(report, targetsOf(report, params));
  });

  // What the plots are drawn from.
  get("/api/v1/history/:protocol/:chain", (report, { params, query }) => {
    const { hours, points } = valid(readQuery(QUERIES.history, query));
    const targets = targetsOf(report, params);
    const toMs = Date.parse(report.generated_at);
    const keys = targets.map(({ key }) => key);
    const past = source.past(params.chain, keys, { fromMs: toMs - hours * HOUR_MS, toMs, points });
    return historyJson(report, targets, past);
  });

  get("/api/v1/status/:protocol/:chain/history", (report, { params, query }) => {
    targetsOf(report, params);
    const asked = valid(readSpanQuery(QUERIES.statusHistory, query, report.generated_at));
    return statusHistoryJson(report, events, params, asked);
  });
  get("/api/v1/events", (report, { query }) => {
    const asked = valid(readSpanQuery(QUERIES.events, query, report.generated_at));
    return eventsJson(report, events, asked, targetsByHost(source.settings().fleet));
  });
  get("/api/v1/incidents", (report, { query }) => {
    const asked = valid(readSpanQuery(QUERIES.incidents, query, report.generated_at));
    return incidentsJson(report, events, asked);
  });

  // For load balancers and front ends: 200 where traffic may go there, else 503.
  for (const path of ["/api/v1/health/:protocol", "/api/v1/health/:protocol/:chain"]) {
    server.get<Route<string | undefined>>(path, ({ params: { protocol, chain }, query }, reply) => {
      const question = { ...valid(readQuery(QUERIES.health, query)), protocol };
      const report = source.report();
      const json =
        chain === undefined
          ? protocolHealthJson(report, question)
          : healthJson(report, { ...question, chain });
      if (json === null) {
        const wanted = { ...question, chain, tier: question.tier ?? "production" };
        throw new Problem(404, describeMissing(report.targets, wanted));
      }
      return sendFresh(reply.code(json.healthy ? 200 : 503), JSON_TYPE, JSON.stringify(json));
    });
  }
}

/** @throws {Problem} If there are none. */
function targetsOf({ targets }: Report, wanted: Selection): readonly TargetReport[] {
  const found = selectTargets(targets, wanted);
  if (found.length === 0) {
    throw new Problem(404, describeMissing(targets, wanted));
  }
  return found;
}
