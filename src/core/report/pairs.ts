import { servingTargets } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { isBeyond, type Limit } from "../model/limit.ts";
import {
  type ChainSummary,
  isFirstSync,
  isGone,
  lagOf,
  limitOf,
  type ParityReport,
  type Report,
  type TargetReport,
  thresholdsFor,
} from "../model/report.ts";

/**
 * How well users of a protocol are served on a chain. Only targets that serve users count (`servingTargets`), and not during
 * their first sync. `ok`: a target is `ok`, and nothing shows that data are wrong · `degraded`: users get late or doubtful
 * data · `down`: no target is usable, or all lag too much · `unknown`: nothing is known of the targets, or they have ended and
 * are gone.
 */
export const PAIR_STATES = ["ok", "degraded", "down", "unknown"] as const;

export type PairState = (typeof PAIR_STATES)[number];

/** The targets of one protocol on one chain, which can replace one another. */
export interface Pair {
  readonly protocol: string;
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
  /** The keys of all targets whose data differ from those of others. */
  readonly differing: ReadonlySet<string>;
}

/** Groups targets of a report. */
export function pairsOf(
  { chains, parity }: Pick<Report, "chains" | "parity">,
  targets: readonly TargetReport[],
): readonly Pair[] {
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  const differing = new Set(differencesOf({ parity, targets }).flatMap(differingKeys));
  return [...groupBy(targets, ({ protocol, chain }) => `${protocol}/${chain}`).values()].flatMap((of) => {
    const [first] = of;
    const chain = bySlug.get(first?.chain ?? "");
    return first === undefined || chain === undefined
      ? []
      : [{ protocol: first.protocol, chain, targets: of, differing }];
  });
}

/** The comparisons that show a fault which nobody planned: neither target is in maintenance. */
export function differencesOf({
  parity,
  targets,
}: Pick<Report, "parity" | "targets">): readonly ParityReport[] {
  const found = parity.filter(({ result }) => result === "different");
  if (found.length === 0) {
    return found;
  }
  const planned = new Set(targets.filter(({ maintenance }) => maintenance).map(({ key }) => key));
  return found.filter((one) => !planned.has(one.key) && !planned.has(one.against_key));
}

/** The keys of the targets whose data differ: the odd one out if it is known, else both. */
export function differingKeys({ key, against_key, odd_key }: ParityReport): readonly string[] {
  return odd_key === null ? [key, against_key] : [odd_key];
}

/** The state of one pair, or of some of its targets. */
export function pairState({ chain, differing, targets }: Omit<Pair, "protocol">): PairState {
  const serving = servingTargets(targets).filter((target) => !isFirstSync(target));
  if (serving.some(({ status }) => status === "ok")) {
    const isDoubtful = chain.dispute !== null || serving.some(({ key }) => differing.has(key));
    return isDoubtful ? "degraded" : "ok";
  }
  if (serving.some((target) => isMerelyLate(target, chain))) {
    return "degraded";
  }
  return serving.every(showsNothing) ? "unknown" : "down";
}

/** Whether a target does not show how users are served. */
function showsNothing(target: TargetReport): boolean {
  return isGone(target) || target.status === "unknown" || target.status === "throttled";
}

/**
 * Whether users get correct data, at worst late. A target that waits for a halted chain has the last block. An unknown
 * lag counts as too late.
 */
function isMerelyLate(target: TargetReport, chain: ChainSummary): boolean {
  const { status } = target;
  const isLate = status === "lagging" || status === "syncing" || status === "throttled";
  return status === "chain_halted" || (isLate && isBeyond(criticalOf(target, chain), lagOf(target)) === true);
}

/** Whether the lag of a target is beyond the critical threshold; null: unknown. */
export function isCritical(target: TargetReport, chain: ChainSummary): boolean | null {
  return isBeyond(lagOf(target), criticalOf(target, chain));
}

function criticalOf(target: TargetReport, chain: ChainSummary): Limit {
  return limitOf(thresholdsFor(target, chain), "critical");
}
