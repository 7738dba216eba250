import type { TargetReport } from "../model/report.ts";

/** Targets within this of the freshest are as good: the first listed of them is preferred, so that nothing flaps. */
const AS_GOOD_MS = 5_000;
const AS_GOOD_BLOCKS = 2;

/** The keys of the freshest healthy target of each protocol; the reports are all of one chain. */
export function preferredKeys(reports: readonly TargetReport[]): ReadonlySet<string> {
  const best = new Map<string, TargetReport>();
  for (const report of reports) {
    const rival = best.get(report.target.protocol);
    if (
      report.status === "ok" &&
      report.block !== null &&
      (rival === undefined || isFresher(report, rival))
    ) {
      best.set(report.target.protocol, report);
    }
  }
  return new Set([...best.values()].map(({ target }) => target.key));
}

/** Whether `report` is clearly fresher than `rival`: by lag where both have one, else by height. */
function isFresher(report: TargetReport, rival: TargetReport): boolean {
  if (report.lagMs !== null && rival.lagMs !== null) {
    return report.lagMs < rival.lagMs - AS_GOOD_MS;
  }
  return (report.block ?? 0) > (rival.block ?? 0) + AS_GOOD_BLOCKS;
}
