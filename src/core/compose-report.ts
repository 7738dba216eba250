import type { Endpoint, Target } from "./fleet.ts";
import { findIncidents } from "./incidents.ts";
import { nothingIsReached } from "./network-incident.ts";
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
  readonly nowMs: number;
}

/** Composes the one report that every output is made from. While nothing can be reached, every status is `unknown`. */
export function composeReport(input: ReportInput): Report {
  const { nowMs } = input;
  const reports = input.chains.map(({ report }) => withMaintenance(report, input.maintenance));
  const incidents = findIncidents(input.previousIncidents, {
    reports,
    endpoints: input.endpoints,
    nowMs,
    nothingIsReached: nothingIsReached(
      input.chains.flatMap(({ state }) => state.sources),
      input.endpoints,
      nowMs,
    ),
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
  const targets = report.targets.map((target) => ({
    ...target,
    status: "unknown" as const,
    preferred: false,
    detail: `nothing can be known: ${network.detail}`,
  }));
  return { ...report, targets };
}
