import type { ChainState, WatchedChain } from "./chain-state.ts";
import type { Endpoint, Target } from "./fleet.ts";
import { findIncidents } from "./incidents.ts";
import { nothingIsReached } from "./network-incident.ts";
import type { ChainReport, Incident, Report } from "./report.ts";
import { reportChain } from "./watch-chain.ts";

/** All that a report is made from. */
export interface ReportInput extends Pick<Report, "budgets" | "skipped"> {
  readonly chains: readonly { readonly watched: WatchedChain; readonly state: ChainState }[];
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
  const reports = input.chains.map(({ watched, state }) =>
    withMaintenance(reportChain(state, watched, nowMs), input.maintenance),
  );
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

function withMaintenance(report: ChainReport, maintenance: ReportInput["maintenance"]): ChainReport {
  return maintenance === undefined
    ? report
    : {
        ...report,
        targets: report.targets.map((target) =>
          maintenance(target.target) ? { ...target, maintenance: true } : target,
        ),
      };
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
