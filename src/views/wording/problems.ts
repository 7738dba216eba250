import { servingTargets } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { ChainSummary, Report, TargetReport } from "../../core/model/report.ts";
import { needsAction, statusWords } from "./status-words.ts";

/**
 * How well a protocol is served on a chain. Only the targets that serve users keep it up.
 * `ok`: every target is ok · `degraded`: at least one is · `behind`: none is ok, but one is lagging, syncing or throttled
 * and under the critical threshold · `unknown`: nothing is known of any · `down`: none is usable.
 */
export type PairState = "ok" | "degraded" | "behind" | "unknown" | "down";

/** A target that is not ok, and what could replace it. */
export interface TargetProblem {
  readonly target: TargetReport;
  readonly chain: ChainSummary;
  readonly pair: PairState;
  /** How many other targets the protocol has on that chain. */
  readonly others: number;
  /** Those of them that are ok, freshest first. */
  readonly alternatives: readonly TargetReport[];
}

/**
 * Every target of `selected` that is not ok, worst first: mainnets before testnets, pairs that are down first, then by
 * status and lag. Alternatives are looked for among all targets.
 */
export function findProblems(
  json: Report,
  selected: readonly TargetReport[] = json.targets,
): readonly TargetProblem[] {
  const chains = new Map(json.chains.map((chain) => [chain.slug, chain]));
  const keys = new Set(selected.map(({ key }) => key));
  return [...groupPairs(json.targets).values()]
    .flatMap((targets) => problemsOfPair(targets, chains))
    .filter(({ target }) => keys.has(target.key))
    .sort(byUrgency);
}

/** The targets of each protocol and chain, which can replace one another. */
export function groupPairs(targets: readonly TargetReport[]): ReadonlyMap<string, readonly TargetReport[]> {
  return groupBy(targets, ({ protocol, chain }) => `${protocol}/${chain}`);
}

/** The state of one pair, or of those of its targets that were selected. */
export function pairState(targets: readonly TargetReport[], criticalSeconds: number): PairState {
  if (targets.every(({ status }) => status === "ok")) {
    return "ok";
  }
  const serving = servingTargets(targets);
  if (serving.some(({ status }) => status === "ok")) {
    return "degraded";
  }
  if (serving.some((target) => isOnlyBehind(target, criticalSeconds))) {
    return "behind";
  }
  return serving.every(({ status }) => status === "unknown") ? "unknown" : "down";
}

/** An unknown lag is not under any limit. */
function isOnlyBehind({ status, lag_seconds }: TargetReport, criticalSeconds: number): boolean {
  const mayCatchUp = status === "lagging" || status === "syncing" || status === "throttled";
  return mayCatchUp && lag_seconds !== null && lag_seconds < criticalSeconds;
}

function problemsOfPair(
  targets: readonly TargetReport[],
  chains: ReadonlyMap<string, ChainSummary>,
): readonly TargetProblem[] {
  const chain = chains.get(targets[0]?.chain ?? "");
  if (chain === undefined) {
    return [];
  }
  const pair = pairState(targets, chain.thresholds.critical_seconds);
  const alternatives = targets
    .filter(({ status }) => status === "ok")
    .sort((a, b) => (a.lag_seconds ?? 0) - (b.lag_seconds ?? 0));
  return targets
    .filter(({ status }) => status !== "ok")
    .map((target) => ({ target, chain, pair, others: targets.length - 1, alternatives }));
}

function byUrgency(a: TargetProblem, b: TargetProblem): number {
  return (
    Number(a.chain.testnet) - Number(b.chain.testnet) ||
    Number(needsAction(b.target.status)) - Number(needsAction(a.target.status)) ||
    Number(b.pair === "down") - Number(a.pair === "down") ||
    statusWords(a.target.status).severity - statusWords(b.target.status).severity ||
    (b.target.lag_seconds ?? 0) - (a.target.lag_seconds ?? 0)
  );
}
