import type { FastifyInstance, FastifyReply } from "fastify";
import { targetsByHost } from "../../../core/model/fleet.ts";
import type { Report } from "../../../core/model/report.ts";
import {
  type EventQuery,
  eventsJson,
  incidentsJson,
  type Query,
  readEventQuery,
  statusHistoryJson,
} from "../../../views/api/events.ts";
import { describeMissing, selectTargets } from "../../../views/api/selection.ts";
import { sendOfReport } from "./bodies.ts";
import { JSON_TYPE, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface EventRoute {
  readonly Params: { readonly protocol: string; readonly chain: string };
  readonly Querystring: Query;
}

interface Defaults {
  readonly hours: number;
  readonly limit: number;
}

const HOUR_MS = 3_600_000;
const DAY = { hours: 24, limit: 200 };
const WEEK = { hours: 7 * 24, limit: 200 };

/** What happened, for programs. */
export function addEventRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get<EventRoute>("/api/v1/events", ({ query }, reply) =>
    answer(reply, query, DAY, (report, asked) =>
      eventsJson(report, source.events, asked, targetsByHost(source.settings().fleet)),
    ),
  );

  server.get<EventRoute>("/api/v1/incidents", ({ query }, reply) =>
    answer(reply, query, WEEK, (report, asked) => incidentsJson(report, source.events, asked)),
  );

  server.get<EventRoute>("/api/v1/status/:protocol/:chain/history", ({ params, query }, reply) => {
    const { targets } = source.report();
    return selectTargets(targets, params).length === 0
      ? sendProblem(reply, 404, describeMissing(targets, params))
      : answer(reply, query, { ...DAY, limit: 1_000 }, (report, asked) =>
          statusHistoryJson(report, source.events, params, asked),
        );
  });

  async function answer(
    reply: FastifyReply,
    query: Query,
    { hours, limit }: Defaults,
    make: (report: Report, asked: EventQuery) => object,
  ): Promise<FastifyReply> {
    const report = source.report();
    const nowMs = Date.parse(report.generated_at);
    const asked = readEventQuery(query, nowMs, { fromMs: nowMs - hours * HOUR_MS, limit });
    return typeof asked === "string"
      ? sendProblem(reply, 400, asked)
      : await sendOfReport(reply.type(JSON_TYPE), report, () => JSON.stringify(make(report, asked)));
  }
}
