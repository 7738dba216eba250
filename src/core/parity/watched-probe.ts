import { type Endpoint, type Fleet, isProduction, type Target } from "../model/fleet.ts";
import type { CarriedSelection, ParityProbe } from "../model/parity.ts";
import { digestOf } from "./digest.ts";

/** What is compared on one chain for one probe. */
export interface WatchedProbe {
  readonly name: string;
  readonly everyMs: number;
  /** The targets whose endpoints carry the selection, in the order of the fleet. */
  readonly targets: readonly ProbedTarget[];
  readonly pairs: readonly ParityPair[];
}

/** A target and its selection. */
export interface ProbedTarget {
  readonly target: Target;
  readonly select: string;
  /** Changes with the selection or the path: values of another query are not compared with these. */
  readonly query: string;
}

/** Two targets that must have the same value. */
export interface ParityPair {
  readonly target: Target;
  readonly against: Target;
}

/** The probes that compare something on this chain. */
export function watchProbes(fleet: Fleet, chain: string): readonly WatchedProbe[] {
  return fleet.parity.flatMap((probe) => {
    const targets = probe.chains.includes(chain) ? targetsOf(fleet, probe, chain) : [];
    const pairs = pairsOf(targets.map(({ target }) => target));
    return pairs.length === 0 ? [] : [{ name: probe.name, everyMs: probe.everyMs, targets, pairs }];
  });
}

/** How long a value of this target is expected to be the newest: the longest time between two readings. */
export function readingIntervalMs({ everyMs }: Pick<WatchedProbe, "everyMs">, target: Target): number {
  return Math.max(everyMs, target.pollIntervalMs);
}

function targetsOf(fleet: Fleet, probe: ParityProbe, chain: string): readonly ProbedTarget[] {
  return fleet.indexers
    .filter(({ protocol, variant }) => protocol === probe.protocol && probe.variants.includes(variant))
    .flatMap(({ endpoints }) => endpoints)
    .flatMap((endpoint) =>
      endpoint.targets
        .filter((target) => target.chain === chain)
        .flatMap((target) => {
          const carried = selectionOf(endpoint, probe.name, target);
          return carried === undefined ? [] : [{ target, select: carried.select, query: queryOf(carried) }];
        }),
    );
}

function selectionOf({ parity }: Endpoint, probe: string, { key }: Target): CarriedSelection | undefined {
  return parity?.find((carried) => carried.probe === probe)?.selections.find(({ target }) => target === key);
}

function queryOf({ select, value }: CarriedSelection): string {
  return digestOf(JSON.stringify([select, value]));
}

/**
 * Every two variants that serve users are compared, so that the odd one of three can be told; a target of another tier
 * is compared with the first of them, as gaps are.
 */
function pairsOf(targets: readonly Target[]): readonly ParityPair[] {
  const first = targets.find(isProduction) ?? targets[0];
  if (first === undefined) {
    return [];
  }
  const serving = targets.filter(({ tier }) => tier === first.tier);
  const others = targets.filter(({ tier }) => tier !== first.tier);
  return [
    ...serving.flatMap((target, index) => serving.slice(0, index).map((against) => ({ target, against }))),
    ...others.map((target) => ({ target, against: first })),
  ];
}
