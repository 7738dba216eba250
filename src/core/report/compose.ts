import type { ChainState } from "../chain/chain-state.ts";
import { findCauses } from "../incidents/incidents.ts";
import { hasNoReplyYet, isUnreached } from "../incidents/network-outage.ts";
import type { Endpoint } from "../model/fleet.ts";
import {
  type ChainPart,
  type Incident,
  isGone,
  type Report,
  sharedCauses,
  type TargetId,
  type TargetReport,
} from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { incidentsOf } from "./incidents-of.ts";

export interface ReportInput extends Pick<Report, "config_digest" | "budgets" | "skipped" | "unlisted"> {
  readonly chains: readonly { readonly report: ChainPart; readonly state: Pick<ChainState, "sources"> }[];
  readonly endpoints: readonly Endpoint[];
  /** The incidents of the last decision. */
  readonly incidents: readonly Incident[];
  /** When the maintenance window of a target ends; null if the target is not in a window. */
  readonly maintenance?: (target: TargetId) => number | null;
  /** Why targets are not `ok`, as index-node APIs report it, by the key of the target. */
  readonly explanations?: ReadonlyMap<string, string>;
  /**
   * The end of the last outage of our own network, by our own clock. Polls that failed before it prove nothing. Absent: there
   * was no outage.
   */
  readonly lastOutageMs?: number;
  /** By the wall clock. */
  readonly nowMs: number;
}

/**
 * Composes the one report that every output is made from. While our own network is down, every status is `unknown`. A target to
 * which nothing is added stays the same object, so that it is quickly compared with the previous report.
 */
export function composeReport(input: ReportInput): Report {
  const { chains, explanations, incidents, nowMs } = input;
  const network = incidents.find(({ scope }) => scope === "network");
  return {
    generated_at: isoTime(nowMs),
    config_digest: input.config_digest,
    replica: null,
    reload_error: null,
    chains: chains.map(({ report }) => report.summary),
    targets: targetsIn(input).map((one) =>
      network === undefined
        ? withExplanation(one, explanations?.get(one.key))
        : asUnknown(one, network.detail, network.since),
    ),
    gaps: chains.flatMap(({ report }) => report.gaps),
    parity: chains.flatMap(({ report }) => report.parity),
    incidents,
    budgets: input.budgets,
    skipped: input.skipped,
    unlisted: input.unlisted,
  };
}

/** The present incidents. An incident that was already running keeps its start time. */
export function decideIncidents(input: ReportInput, isNetworkDown: boolean): readonly Incident[] {
  const { chains, endpoints, incidents: previous, nowMs } = input;
  const targets = targetsIn(input);
  const causes = findCauses(sharedCauses(previous), { targets, endpoints, nowMs, isNetworkDown });
  const summaries = chains.map(({ report }) => report.summary);
  const parity = chains.flatMap(({ report }) => report.parity);
  return incidentsOf({ causes, chains: summaries, nowMs, parity, previous, targets });
}

/** The targets of all chains, without the effects of incidents. */
function targetsIn({ chains, endpoints, lastOutageMs, maintenance }: ReportInput): readonly TargetReport[] {
  const sources = chains.flatMap(({ state }) => state.sources);
  const outageMs = hasNoReplyYet(sources, endpoints)
    ? Number.POSITIVE_INFINITY
    : (lastOutageMs ?? Number.NEGATIVE_INFINITY);
  const unproven = new Set(
    sources
      .filter(({ last }) => isUnreached(last) && (last?.sentAtMs ?? 0) <= outageMs)
      .map(({ key }) => key),
  );
  return chains
    .flatMap(({ report }) => report.targets)
    .map((one) => (unproven.has(one.key) ? asUnknown(one, "not polled since our network outage", null) : one))
    .map((one) => {
      const untilMs = maintenance?.(one) ?? null;
      const maintenance_until = untilMs === null ? null : isoTime(untilMs);
      return untilMs === null && !isPast(one) ? one : { ...one, maintenance: true, maintenance_until };
    });
}

function asUnknown(target: TargetReport, detail: string, since: string | null): TargetReport {
  const noLag = { lag_blocks: null, lag_seconds: null, lag_extrapolated: false, catch_up: null };
  return { ...target, ...noLag, status: "unknown", unconfirmed: null, since, preferred: false, detail };
}

/** Whether a target has stopped at its configured end, or is gone since: both are expected. */
function isPast(target: TargetReport): boolean {
  return isGone(target) || (target.ended !== null && target.status === "ok");
}

/** Puts the explanation first in the detail, unless the target is `ok` or `unknown`. */
function withExplanation(target: TargetReport, explanation: string | undefined): TargetReport {
  return explanation === undefined || target.status === "ok" || target.status === "unknown"
    ? target
    : { ...target, detail: `${explanation}; ${target.detail}` };
}
