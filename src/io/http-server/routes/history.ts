import type { FastifyInstance } from "fastify";
import { describeMissingPair } from "../../../views/api/filter-status.ts";
import { historyJson, historyTargets } from "../../../views/api/history.ts";
import { statusJson } from "../../../views/api/status.ts";
import { sendJson, sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

interface HistoryRoute {
  readonly Params: { readonly protocol: string; readonly chain: string };
  readonly Querystring: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = "24";
const MOST_POINTS = "10000";

/** The history behind the plots. */
export function addHistoryRoute(server: FastifyInstance, source: ServerDeps): void {
  server.get<HistoryRoute>("/api/v1/history/:protocol/:chain", ({ params, query }, reply) => {
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
    const wanted = historyTargets(report, params.protocol, params.chain);
    if (wanted === null) {
      return sendProblem(reply, 404, describeMissingPair(statusJson(report), params.protocol, params.chain));
    }
    const toMs = report.generatedAtMs;
    const past = source.past(params.chain, wanted.keys, {
      fromMs: toMs - Number(hours) * HOUR_MS,
      toMs,
      points: Number(points),
    });
    return sendJson(reply, historyJson(params.protocol, wanted.chainReport, { past, nowMs: toMs }));
  });
}

function quoted(found: unknown): string {
  return JSON.stringify(found).slice(0, 100);
}
