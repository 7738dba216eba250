import { isProduction } from "../model/fleet.ts";
import type { TargetReport } from "../model/report.ts";

/** Targets within this of the freshest are as good: the first listed of them is preferred, so that nothing flaps. */
const AS_GOOD_SECONDS = 5;
const AS_GOOD_BLOCKS = 2;

/**
 * The keys of the freshest healthy target of each protocol, among those that serve its users: a testing URL is preferred
 * only where the protocol has no production tier. The reports are all of one chain. `excluded` are keys of targets whose
 * data differ from what the others have.
 */
export function preferredKeys(
  reports: readonly TargetReport[],
  excluded: ReadonlySet<string>,
): ReadonlySet<string> {
  const inProduction = new Set(reports.filter(isProduction).map(({ protocol }) => protocol));
  const best = new Map<string, TargetReport>();
  for (const report of reports) {
    const isServing = isProduction(report) || !inProduction.has(report.protocol);
    const rival = best.get(report.protocol);
    const isCandidate = isServing && isHealthy(report) && !excluded.has(report.key);
    if (isCandidate && (rival === undefined || isFresher(report, rival))) {
      best.set(report.protocol, report);
    }
  }
  return new Set([...best.values()].map(({ key }) => key));
}

function isHealthy({ status, block_number: block }: TargetReport): boolean {
  return status === "ok" && block !== null;
}

/** Whether `report` is clearly fresher than `rival`: by lag where both have one, else by height. */
function isFresher(report: TargetReport, rival: TargetReport): boolean {
  if (report.lag_seconds !== null && rival.lag_seconds !== null) {
    return report.lag_seconds < rival.lag_seconds - AS_GOOD_SECONDS;
  }
  return (report.block_number ?? 0) > (rival.block_number ?? 0) + AS_GOOD_BLOCKS;
}
