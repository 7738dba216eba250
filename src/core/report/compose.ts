import type { ChainState } from "../head/chain-state.ts";
import { findIncidents } from "../incidents/incidents.ts";
import { isNetworkDown, isUnreached, nobodyAnsweredYet } from "../incidents/local-outage.ts";
import type { Endpoint } from "../model/fleet.ts";
import type { ChainReport, Incident, Report, TargetId, TargetReport } from "../model/report.ts";
import { isoTime } from "../model/text.ts";

/** All that a report is made from. */
export interface ReportInput extends Pick<Report, "budgets" | "skipped" | "unlisted"> {
  readonly chains: readonly { readonly report: ChainReport; readonly state: Pick<ChainState, "sources"> }[];
  readonly endpoints: readonly Endpoint[];
  /** The incidents of the previous report, so that a continuing incident keeps its start time. */
  readonly previousIncidents: readonly Incident[];
  /** Whether a target is inside a maintenance window. */
  readonly maintenance?: (target: TargetId) => boolean;
  /** What an index-node API says of why a target is not `ok`, by the target's key. */
  readonly explanations?: ReadonlyMap<string, string>;
  /** The end of the last outage of our own network: polls that failed before it prove nothing. */
  readonly lastOutageMs?: number | null;
  readonly nowMs: number;
}

/** Composes the one report that every output is made from. While our own network is down, every status is `unknown`. */
export function composeReport(input: ReportInput): Report {
  const { chains, endpoints, nowMs } = input;
  const sources = chains.flatMap(({ state }) => state.sources);
  const outageMs = nobodyAnsweredYet(sources, endpoints) ? nowMs : (input.lastOutageMs ?? null);
  const reports = chains.map((chain) =>
    withMaintenance(outageMs === null ? chain.report : maskUnreachable(chain, outageMs), input.maintenance),
  );
  const incidents = findIncidents(input.previousIncidents, {
    reports,
    endpoints,
    nowMs,
    isNetworkDown: isNetworkDown(sources, endpoints, nowMs),
  });
  const network = incidents.find(({ scope }) => scope === "network");
  const shown =
    network === undefined
      ? reports.map((report) => explained(report, input.explanations ?? new Map()))
      : reports.map((report) => maskAll(report, network));
  return {
    generated_at: isoTime(nowMs),
    replica: null,
    chains: shown.map(({ targets: _t, gaps: _g, parity: _p, ...chain }) => chain),
    targets: shown.flatMap(({ targets }) => targets),
    gaps: shown.flatMap(({ gaps }) => gaps),
    parity: shown.flatMap(({ parity }) => parity),
    incidents,
    budgets: input.budgets,
    skipped: input.skipped,
    unlisted: input.unlisted,
  };
}

/**
 * Sets targets to `unknown` if their last poll reached no server and was sent before our network recovered.
 */
function maskUnreachable({ report, state }: ReportInput["chains"][number], outageMs: number): ChainReport {
  const isMasked = ({ last }: (typeof state.sources)[number]) =>
    last !== null && isUnreached(last) && last.sentAtMs <= outageMs;
  const masked = new Set(state.sources.filter(isMasked).map(({ key }) => key));
  return masked.size === 0
    ? report
    : {
        ...report,
        targets: report.targets.map((target) =>
          masked.has(target.key) ? unknown(target, "not polled since our network outage", null) : target,
        ),
      };
}

function maskAll(report: ChainReport, { detail, since }: Incident): ChainReport {
  return { ...report, targets: report.targets.map((target) => unknown(target, detail, since)) };
}

function unknown(target: TargetReport, detail: string, since: string | null): TargetReport {
  return { ...target, status: "unknown", since, catch_up: null, preferred: false, detail };
}

/** With the explanation first in the detail of each target that has one, and is neither `ok` nor `unknown`. */
function explained(report: ChainReport, explanations: ReadonlyMap<string, string>): ChainReport {
  const isExplained = ({ key, status }: TargetReport) =>
    explanations.has(key) && status !== "ok" && status !== "unknown";
  return explanations.size > 0 && report.targets.some(isExplained)
    ? {
        ...report,
        targets: report.targets.map((target) =>
          isExplained(target)
            ? { ...target, detail: `${explanations.get(target.key) ?? ""}; ${target.detail}` }
            : target,
        ),
      }
    : report;
}

/** The same report where no target is marked, so that comparing it with the previous one is quick. */
function withMaintenance(report: ChainReport, maintenance: ReportInput["maintenance"]): ChainReport {
  const isMarked = (target: TargetReport) => maintenance?.(target) === true;
  return report.targets.some(isMarked)
    ? {
        ...report,
        targets: report.targets.map((target) =>
          isMarked(target) ? { ...target, maintenance: true } : target,
        ),
      }
    : report;
}
