import type { ChainState } from "../chain/chain-state.ts";
import { findIncidents, isNetworkDown, isUnreached, nobodyAnsweredYet } from "../incidents/incidents.ts";
import type { Endpoint } from "../model/fleet.ts";
import {
  type ChainPart,
  type Incident,
  type Report,
  sharedCauses,
  type TargetId,
  type TargetReport,
} from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { incidentsOf } from "./incidents-of.ts";

/** All that a report is made from. */
export interface ReportInput extends Pick<Report, "config_digest" | "budgets" | "skipped" | "unlisted"> {
  readonly chains: readonly { readonly report: ChainPart; readonly state: Pick<ChainState, "sources"> }[];
  readonly endpoints: readonly Endpoint[];
  /** The incidents of the previous report, so that a continuing incident keeps its start time. */
  readonly previousIncidents: readonly Incident[];
  /** Until when a target is inside a maintenance window; null: it is in none. */
  readonly maintenance?: (target: TargetId) => number | null;
  /** What an index-node API says of why a target is not `ok`, by the target's key. */
  readonly explanations?: ReadonlyMap<string, string>;
  /** The end of the last outage of our own network: polls that failed before it prove nothing. Default: none was. */
  readonly lastOutageMs?: number;
  /** Since when this process has run without standing still. Default: always. */
  readonly ranSinceMs?: number;
  readonly nowMs: number;
}

const ALWAYS = Number.NEGATIVE_INFINITY;

/**
 * Composes the one report that every output is made from. While our own network is down, every status is `unknown`. A target of
 * which nothing is changed is the same object as before, so that comparing it with the previous report is quick.
 */
export function composeReport(input: ReportInput): Report {
  const { chains, endpoints, maintenance, explanations, nowMs } = input;
  const sources = chains.flatMap(({ state }) => state.sources);
  const outageMs = nobodyAnsweredYet(sources, endpoints)
    ? nowMs
    : (input.lastOutageMs ?? Number.NEGATIVE_INFINITY);
  const unproven = new Set(
    sources
      .filter(({ last }) => isUnreached(last) && (last?.sentAtMs ?? 0) <= outageMs)
      .map(({ key }) => key),
  );
  const targets = chains
    .flatMap(({ report }) => report.targets)
    .map((one) => (unproven.has(one.key) ? unknown(one, "not polled since our network outage", null) : one))
    .map((one) => {
      const untilMs = maintenance?.(one) ?? null;
      return untilMs === null ? one : { ...one, maintenance: true, maintenance_until: isoTime(untilMs) };
    });
  const previous = sharedCauses(input.previousIncidents);
  // An outage that was found goes on although the process then stood still.
  const wasDown = previous.some(({ scope }) => scope === "network");
  const ranSinceMs = wasDown ? ALWAYS : (input.ranSinceMs ?? ALWAYS);
  const causes = findIncidents(previous, {
    targets,
    endpoints,
    nowMs,
    isNetworkDown: isNetworkDown(sources, endpoints, nowMs, ranSinceMs),
  });
  const summaries = chains.map(({ report }) => report.summary);
  const parity = chains.flatMap(({ report }) => report.parity);
  const network = causes.find(({ scope }) => scope === "network");
  return {
    generated_at: isoTime(nowMs),
    config_digest: input.config_digest,
    replica: null,
    reload_error: null,
    chains: summaries,
    targets:
      network === undefined
        ? targets.map((one) => explained(one, explanations?.get(one.key)))
        : targets.map((one) => unknown(one, network.detail, network.since)),
    gaps: chains.flatMap(({ report }) => report.gaps),
    parity,
    incidents: incidentsOf({
      ...{ causes, chains: summaries, nowMs, parity, targets },
      previous: input.previousIncidents,
    }),
    budgets: input.budgets,
    skipped: input.skipped,
    unlisted: input.unlisted,
  };
}

function unknown(target: TargetReport, detail: string, since: string | null): TargetReport {
  const noLag = { lag_blocks: null, lag_seconds: null, lag_extrapolated: false, catch_up: null };
  return { ...target, ...noLag, status: "unknown", unconfirmed: null, since, preferred: false, detail };
}

/** With the explanation first in the detail, unless the target is `ok` or `unknown`. */
function explained(target: TargetReport, explanation: string | undefined): TargetReport {
  return explanation === undefined || target.status === "ok" || target.status === "unknown"
    ? target
    : { ...target, detail: `${explanation}; ${target.detail}` };
}
