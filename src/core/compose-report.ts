import type { ChainState } from "./chain-state.ts";
import type { Endpoint, Target } from "./fleet.ts";
import { findIncidents } from "./incidents.ts";
import { isUnreached, nobodyAnsweredYet, nothingIsReached } from "./network-incident.ts";
import type { ChainReport, Incident, Report, TargetReport } from "./report.ts";
import type { ToldChain } from "./tell-chain.ts";

/** All that a report is made from. */
export interface ReportInput extends Pick<Report, "budgets" | "skipped"> {
  /** As told for `nowMs`. */
  readonly chains: readonly Pick<ToldChain, "report" | "state">[];
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
  const { endpoints, nowMs } = input;
  const sources = input.chains.flatMap(({ state }) => state.sources);
  const cutOffUntilMs = nobodyAnsweredYet(sources, endpoints) ? nowMs : input.cutOffUntilMs;
  const reports = input.chains.map(({ report, state }) =>
    withMaintenance(withoutVain(report, state, cutOffUntilMs ?? Number.NEGATIVE_INFINITY), input.maintenance),
  );
  const incidents = findIncidents(input.previousIncidents, {
    reports,
    endpoints,
    nowMs,
    nothingIsReached: nothingIsReached(sources, endpoints, nowMs),
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

function withoutVain(report: ChainReport, { sources }: ChainState, cutOffUntilMs: number): ChainReport {
  const vain = new Set(
    sources
      .filter(({ last }) => isUnreached(last) && (last?.sentAtMs ?? 0) <= cutOffUntilMs)
      .map(({ key }) => key),
  );
  const detail = "nothing can be known: it was last asked while nothing could be reached";
  const targets = report.targets.map((target) =>
    vain.has(target.target.key) ? withoutVerdict(target, detail) : target,
  );
  return vain.size === 0 ? report : { ...report, targets };
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
