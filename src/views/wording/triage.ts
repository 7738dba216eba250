import { servingTargets } from "../../core/model/fleet.ts";
import type { ChainJson, StatusJson, TargetJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { needsSomebody, STATUS_WORDS } from "./status.ts";

/**
 * What is left of a protocol on a chain.
 * `fresh`: all ok · `degraded`: one or more ok · `late`: none ok, yet one is merely late and under `critical` ·
 * `unknown`: nothing known of any · `lost`: nothing usable left.
 */
export type PairState = "fresh" | "degraded" | "late" | "unknown" | "lost";

/** A target that is not ok, and what could stand in for it. */
export interface Trouble {
  readonly target: TargetJson;
  readonly chain: ChainJson;
  readonly pair: PairState;
  /** How many other targets the protocol has on that chain. */
  readonly others: number;
  /** Those of them that are ok, freshest first. */
  readonly fresh: readonly TargetJson[];
}

/**
 * Every target that is not ok, worst first: mainnets before testnets, lost pairs first, then by status and lag.
 * Where only some are asked for, what could stand in for them is still looked for among all.
 */
export function findTroubles(
  json: StatusJson,
  asked: readonly TargetJson[] = json.targets,
): readonly Trouble[] {
  const chains = new Map(json.chains.map((chain) => [chain.slug, chain]));
  const keys = new Set(asked.map(targetKey));
  const pairs = groupPairs(json.targets);
  return [...pairs.values()]
    .flatMap((targets) => pairTroubles(targets, chains))
    .filter(({ target }) => keys.has(targetKey(target)))
    .sort(byUrgency);
}

/** The targets of each protocol and chain, which can stand in for one another. */
export function groupPairs(targets: readonly TargetJson[]): ReadonlyMap<string, readonly TargetJson[]> {
  const pairs = new Map<string, TargetJson[]>();
  for (const target of targets) {
    const key = `${target.protocol}/${target.chain}`;
    const pair = pairs.get(key);
    if (pair === undefined) {
      pairs.set(key, [target]);
    } else {
      pair.push(target);
    }
  }
  return pairs;
}

/** The state of one pair, or of the part of it that was asked for. Only the targets that serve users keep it going. */
export function pairState(targets: readonly TargetJson[], criticalSeconds: number): PairState {
  if (targets.every(({ status }) => status === "ok")) {
    return "fresh";
  }
  const serving = servingTargets(targets);
  if (serving.some(({ status }) => status === "ok")) {
    return "degraded";
  }
  if (serving.some((target) => isMerelyLate(target, criticalSeconds))) {
    return "late";
  }
  return serving.every(({ status }) => status === "unknown") ? "unknown" : "lost";
}

/** A lag that nobody knows is not under any limit. */
function isMerelyLate({ status, lag_seconds }: TargetJson, criticalSeconds: number): boolean {
  const isLate = status === "lagging" || status === "syncing" || status === "throttled";
  return isLate && lag_seconds !== null && lag_seconds < criticalSeconds;
}

function pairTroubles(
  targets: readonly TargetJson[],
  chains: ReadonlyMap<string, ChainJson>,
): readonly Trouble[] {
  const chain = chains.get(targets[0]?.chain ?? "");
  if (chain === undefined) {
    return [];
  }
  const pair = pairState(targets, chain.thresholds.critical_seconds);
  const fresh = targets
    .filter(({ status }) => status === "ok")
    .sort((a, b) => (a.lag_seconds ?? 0) - (b.lag_seconds ?? 0));
  return targets
    .filter(({ status }) => status !== "ok")
    .map((target) => ({ target, chain, pair, others: targets.length - 1, fresh }));
}

function byUrgency(a: Trouble, b: Trouble): number {
  return (
    Number(a.chain.testnet) - Number(b.chain.testnet) ||
    Number(needsSomebody(b.target.status)) - Number(needsSomebody(a.target.status)) ||
    Number(b.pair === "lost") - Number(a.pair === "lost") ||
    STATUS_WORDS[a.target.status].severity - STATUS_WORDS[b.target.status].severity ||
    (b.target.lag_seconds ?? 0) - (a.target.lag_seconds ?? 0)
  );
}
