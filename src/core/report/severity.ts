import { servingTargets } from "../model/fleet.ts";
import { memoize } from "../model/memoize.ts";
import { isFirstSync, type Report, SEVERITIES, type Severity, type TargetReport } from "../model/report.ts";
import { type Pair, type PairState, pairState, pairsOf } from "./pairs.ts";

/** A pair, how well it serves users, and how bad that is. */
export interface JudgedPair extends Pair {
  readonly state: PairState;
  readonly severity: Severity;
}

/** How bad a report, its pairs and its targets are. */
export interface Judgement {
  readonly severity: Severity;
  readonly pairs: readonly JudgedPair[];
  /** By the key of the target. */
  readonly targets: ReadonlyMap<string, Severity>;
}

/** The parts of a report that a judgement is based on. */
type Judged = Pick<Report, "chains" | "incidents" | "parity" | "targets"> &
  Partial<Pick<Report, "reload_error">>;

/**
 * The only place that decides how bad something is: headline, colours, exit code, incidents and log follow it. The public page,
 * the health routes and SynclagNoVariantOk follow the state of the pair, from which the severity is derived.
 * test/views/agreement.test.ts checks that all of them agree.
 */
export const judgeReport = memoize((report: Judged): Judgement => {
  const targets = new Map<string, Severity>();
  const pairs = pairsOf(report, report.targets).map((pair): JudgedPair => {
    const state = pairState(pair);
    const own = severitiesOf(pair, state);
    for (const [key, severity] of own) {
      targets.set(key, severity);
    }
    return { ...pair, state, severity: worst([...own.values()]) };
  });
  const isBlind = report.incidents.some(({ scope }) => scope === "network");
  return { severity: isBlind ? "critical" : severityOfAll(report, targets.values()), pairs, targets };
});

/**
 * The severity of a report, by the severities of its targets. After a failed reload it is at least `warning`, because the
 * daemon may not watch what chains.yaml has now.
 */
export function severityOfAll(report: Pick<Judged, "reload_error">, targets: Iterable<Severity>): Severity {
  return worst([...targets, ...(report.reload_error == null ? [] : (["warning"] as const))]);
}

/** The worst of some severities; `unknown` if there are none. */
export function worst(severities: readonly Severity[]): Severity {
  return severities.length === 0
    ? "unknown"
    : severities.reduce((most, one) => (isAtLeast(one, most) ? one : most), "ok");
}

/** Whether a severity is at least as bad as another one. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);
}

/** Whether a person should look at it. */
export function needsAction(severity: Severity): boolean {
  return isAtLeast(severity, "warning");
}

/**
 * The severities of the targets of a pair, by their keys. While the pair is down, each target that should serve its users is
 * critical, unless it is in maintenance.
 */
function severitiesOf(pair: Pair, state: PairState): ReadonlyMap<string, Severity> {
  const serving = new Set(state === "down" ? servingTargets(pair.targets) : []);
  return new Map(
    pair.targets.map((target) => {
      const severity = severityOf(target, pair);
      return [target.key, serving.has(target) && !target.maintenance ? "critical" : severity];
    }),
  );
}

function severityOf(target: TargetReport, { chain, differing }: Pair): Severity {
  const { key, maintenance, status } = target;
  const isDoubtful = differing.has(key) || chain.dispute !== null;
  if (maintenance) {
    return status === "ok" && !isDoubtful ? "ok" : "calm";
  }
  if (isDoubtful) {
    return "warning";
  }
  if (isFirstSync(target)) {
    return "calm";
  }
  return status === "ok" || status === "unknown" ? status : "warning";
}
