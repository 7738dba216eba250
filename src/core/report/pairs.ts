import { servingTargets } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { ChainSummary, Report, TargetReport } from "../model/report.ts";

/**
 * How well a protocol is served on a chain: `ok`: every target is ok · `degraded`: usable, but not all is well · `down`: no target
 * that serves users is usable · `unknown`: nothing is known of them. The page, `check` and the alerts go by this word.
 */
export const PAIR_STATES = ["ok", "degraded", "down", "unknown"] as const;

export type PairState = (typeof PAIR_STATES)[number];

/** The targets of one protocol on one chain, which can replace one another. */
export interface Pair {
  readonly protocol: string;
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
}

/** Groups targets of a report. */
export function pairsOf(
  { chains }: Pick<Report, "chains">,
  targets: readonly TargetReport[],
): readonly Pair[] {
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  return [...groupBy(targets, ({ protocol, chain }) => `${protocol}/${chain}`).values()].flatMap((of) => {
    const [first] = of;
    const chain = bySlug.get(first?.chain ?? "");
    return first === undefined || chain === undefined
      ? []
      : [{ protocol: first.protocol, chain, targets: of }];
  });
}

/** The state of one pair, or of a selection of its targets. */
export function pairState({ chain, targets }: Pick<Pair, "chain" | "targets">): PairState {
  if (targets.every(({ status }) => status === "ok")) {
    return "ok";
  }
  const serving = servingTargets(targets);
  if (serving.some((target) => isUsable(target, chain.thresholds.critical_seconds))) {
    return "degraded";
  }
  // A poll that was not sent says nothing of the indexer.
  return serving.every(({ status }) => status === "unknown" || status === "throttled") ? "unknown" : "down";
}

/** Whether users get data that are at most late. One that waits for a halted chain has its last block; an unknown lag is not under any limit. */
function isUsable({ status, lag_seconds: lag }: TargetReport, criticalSeconds: number): boolean {
  const isLate = status === "lagging" || status === "syncing" || status === "throttled";
  return status === "ok" || status === "chain_halted" || (isLate && lag !== null && lag < criticalSeconds);
}
