import type { FastifyInstance } from "fastify";
import { HOUR_MS } from "../../../core/model/durations.ts";
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
  /** The parameters that some paths have. */
  readonly Params: { readonly protocol: string; readonly chain: Chain };
}

/** The JSON API: the report, health, history, events and incidents. */
export function addApiRoutes(server: FastifyInstance, source: ServerDeps): void {
  const { events } = source;

  /** A route whose JSON is made from the latest report and what `read` finds in the query. */
  function get<Asked extends object>(
    path: string,
    read: (query: Query, now: string) => Asked | string,
    make: (report: Report, asked: Asked, params: Route["Params"]) => object,
  ): void {
    server.get<Route>(path, ({ params, query }, reply) => {
      const report = source.report();
      const asked = valid(read(query, report.generated_at));
      const send = () => JSON.stringify(make(report, asked, params));
      return sendOfReport(reply.type(JSON_TYPE), { report, asked, make: send });
    });
  }
  const nothing = (query: Query) => readQuery(QUERIES.none, query);

  get("/api/v1/status", nothing, (report) => report);
  get("/api/v1/status/:protocol/:chain", nothing, (report, _asked, params) =>
    keepTargets(report, targetsOf(report, params)),
  );

  // The data of the plots.
  get(
    "/api/v1/history/:protocol/:chain",
    (query) => readQuery(QUERIES.history, query),
    (report, { hours, points }, params) => {
      const targets = targetsOf(report, params);
      const toMs = Date.parse(report.generated_at);
      const keys = targets.map(({ key }) => key);
      const past = source.past(params.chain, keys, { fromMs: toMs - hours * HOUR_MS, toMs, points });
      return historyJson(report, targets, past);
    },
  );

  get(
    "/api/v1/status/:protocol/:chain/history",
    (query, now) => readSpanQuery(QUERIES.statusHistory, query, now),
    (report, asked, params) => {
      targetsOf(report, params);
      return statusHistoryJson(report, events, params, asked);
    },
  );
  get(
    "/api/v1/events",
    (query, now) => readSpanQuery(QUERIES.events, query, now),
    (report, asked) => eventsJson(report, events, asked, targetsByHost(source.settings().fleet)),
  );
  get(
    "/api/v1/incidents",
    (query, now) => readSpanQuery(QUERIES.incidents, query, now),
    (report, asked) => incidentsJson(report, events, asked),
  );

  addHealthRoutes(server, source);
}

/** For load balancers and front ends: 200 if healthy, else 503. */
function addHealthRoutes(server: FastifyInstance, source: ServerDeps): void {
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

/** The targets of a selection. @throws {Problem} If there are none. */
function targetsOf({ targets }: Report, wanted: Selection): readonly TargetReport[] {
  const found = selectTargets(targets, wanted);
  if (found.length === 0) {
    throw new Problem(404, describeMissing(targets, wanted));
  }
  return found;
}
