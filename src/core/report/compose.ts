import { findIncidents } from "../incidents/incidents.ts";
import {
  isSurelyReached,
  isUnreached,
  nobodyAnsweredYet,
  nothingIsReached,
} from "../incidents/local-outage.ts";
import type { Endpoint, Target } from "../model/fleet.ts";
import type { ChainReport, Incident, Report, TargetReport } from "../model/report.ts";
import type { SourceState } from "../source/source-state.ts";
import type { CachedReport } from "./cached-report.ts";

/** All that a report is made from. */
export interface ReportInput extends Pick<Report, "budgets" | "skipped"> {
  /** As told for `nowMs`. */
  readonly chains: readonly Pick<CachedReport, "report" | "state" | "reach">[];
  readonly endpoints: readonly Endpoint[];
  /** Those of the report before, so that each is said once and keeps its beginning. */
  readonly previousIncidents: readonly Incident[];
  /** Whether a target is inside a maintenance window. */
  readonly maintenance?: (target: Target) => boolean;
  /** When nothing could be reached for the last time: what failed when it was asked before, has shown nothing of itself. */
  readonly cutOffUntilMs?: number | null;
  readonly nowMs: number;
}

/** Composes the one report that every output is made from. While nothing can be reached, every status is `unknown`. */
export function composeReport(input: ReportInput): Report {
  const { chains, endpoints, nowMs } = input;
  const outage = outageOf(input);
  const reports = chains.map((told) =>
    withMaintenance(withoutVain(told, outage.vainUntilMs), input.maintenance),
  );
  const incidents = findIncidents(input.previousIncidents, {
    reports,
    endpoints,
    nowMs,
    nothingIsReached: outage.nothingIsReached,
  });
  const network = incidents.find(({ scope }) => scope === "network");
  return {
    generatedAtMs: nowMs,
    chains: network === undefined ? reports : reports.map((report) => withoutVerdicts(report, network)),
    incidents,
    budgets: input.budgets,
    skipped: input.skipped,
  };
}

/** How our own network is: whether nothing is reached now, and until when what was not reached says nothing. */
interface Outage {
  readonly nothingIsReached: boolean;
  readonly vainUntilMs: number;
}

function outageOf({ chains, endpoints, cutOffUntilMs, nowMs }: ReportInput): Outage {
  const vainUntilMs = cutOffUntilMs ?? Number.NEGATIVE_INFINITY;
  // Nearly always somebody has just answered: then no source is looked at.
  if (isSurelyReached(chains, nowMs)) {
    return { nothingIsReached: false, vainUntilMs };
  }
  const sources = chains.flatMap(({ state }) => state.sources);
  return {
    nothingIsReached: nothingIsReached(sources, endpoints, nowMs),
    vainUntilMs: nobodyAnsweredYet(sources, endpoints) ? nowMs : vainUntilMs,
  };
}

function withoutVain({ report, state, reach }: ReportInput["chains"][number], untilMs: number): ChainReport {
  const isVain = ({ last }: SourceState) => isUnreached(last) && (last?.sentAtMs ?? 0) <= untilMs;
  if (!reach.someUnreached || !state.sources.some(isVain)) {
    return report;
  }
  const vain = new Set(state.sources.filter(isVain).map(({ key }) => key));
  const detail = "nothing can be known: it was last asked while nothing could be reached";
  const targets = report.targets.map((target) =>
    vain.has(target.target.key) ? withoutVerdict(target, detail) : target,
  );
  return { ...report, targets };
}

/** Where nothing is marked it is the same report: whoever compares it with the former sees at once that nothing changed. */
function withMaintenance(report: ChainReport, maintenance: ReportInput["maintenance"]): ChainReport {
  const isMarked = ({ target }: TargetReport) => maintenance?.(target) === true;
  return report.targets.some(isMarked)
    ? {
        ...report,
        targets: report.targets.map((target) =>
          isMarked(target) ? { ...target, maintenance: true } : target,
        ),
      }
    : report;
}

function withoutVerdicts(report: ChainReport, network: Incident): ChainReport {
  const detail = `nothing can be known: ${network.detail}`;
  return { ...report, targets: report.targets.map((target) => withoutVerdict(target, detail)) };
}

function withoutVerdict(target: TargetReport, detail: string): TargetReport {
  return { ...target, status: "unknown", preferred: false, detail };
}
