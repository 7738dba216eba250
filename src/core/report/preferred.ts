import { isProduction } from "../model/fleet.ts";
import type { TargetReport } from "../model/report.ts";

/** Targets within this of the freshest are as good: the first listed of them is preferred, so that nothing flaps. */
const AS_GOOD_MS = 5_000;
const AS_GOOD_BLOCKS = 2;
const NONE: ReadonlySet<string> = new Set();

/** The reports with the preferred targets marked, and no other. */
export function markPreferred(
  reports: readonly TargetReport[],
  excluded: ReadonlySet<string> = NONE,
): readonly TargetReport[] {
  const preferred = preferredKeys(reports, excluded);
  return reports.map((report) =>
    report.preferred === preferred.has(report.target.key)
      ? report
      : { ...report, preferred: !report.preferred },
  );
}

/**
 * The keys of the freshest healthy target of each protocol, among those that serve its users: a testing URL is preferred
 * only where the protocol has no production tier. The reports are all of one chain. `excluded` are keys of targets whose
 * data differ from what the others have.
 */
function preferredKeys(
  reports: readonly TargetReport[],
  excluded: ReadonlySet<string> = NONE,
): ReadonlySet<string> {
  const inProduction = new Set(reports.filter(({ target }) => isProduction(target)).map(protocolOf));
  const best = new Map<string, TargetReport>();
  for (const report of reports) {
    const isServing = isProduction(report.target) || !inProduction.has(protocolOf(report));
    const rival = best.get(protocolOf(report));
    const isCandidate = isServing && isHealthy(report) && !excluded.has(report.target.key);
    if (isCandidate && (rival === undefined || isFresher(report, rival))) {
      best.set(protocolOf(report), report);
    }
  }
  return new Set([...best.values()].map(({ target }) => target.key));
}

function protocolOf({ target }: TargetReport): string {
  return target.protocol;
}

function isHealthy({ status, block }: TargetReport): boolean {
  return status === "ok" && block !== null;
}

/** Whether `report` is clearly fresher than `rival`: by lag where both have one, else by height. */
function isFresher(report: TargetReport, rival: TargetReport): boolean {
  if (report.lagMs !== null && rival.lagMs !== null) {
    return report.lagMs < rival.lagMs - AS_GOOD_MS;
  }
  return (report.block ?? 0) > (rival.block ?? 0) + AS_GOOD_BLOCKS;
}
