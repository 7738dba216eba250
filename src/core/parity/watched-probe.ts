import { type Fleet, isProduction, type Target } from "../model/fleet.ts";
import type { ParityProbe } from "../model/parity.ts";

/** What is compared on one chain for one probe. */
export interface WatchedProbe {
  readonly name: string;
  readonly everyMs: number;
  /** The targets whose endpoints carry the selection, in the order of the fleet. */
  readonly targets: readonly ProbedTarget[];
  readonly pairs: readonly ParityPair[];
}

interface ProbedTarget {
  readonly target: Target;
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

/** The longest time between two readings of this target, in milliseconds. */
export function readingIntervalMs({ everyMs }: Pick<WatchedProbe, "everyMs">, target: Target): number {
  return Math.max(everyMs, target.pollIntervalMs);
}

function targetsOf(fleet: Fleet, probe: ParityProbe, chain: string): readonly ProbedTarget[] {
  return fleet.indexers
    .filter(({ protocol, variant }) => protocol === probe.protocol && probe.variants.includes(variant))
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ parity = [], targets }) => {
      const selections = parity.filter((one) => one.probe === probe.name).flatMap((one) => one.selections);
      return targets
        .filter((target) => target.chain === chain)
        .flatMap((target) =>
          selections
            .filter((selection) => selection.target === target.key)
            .map(({ select, value }) => ({ target, query: digestOf(JSON.stringify([select, value])) })),
        );
    });
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

/** A short text that differs between different texts: FNV-1a of 64 bits. No protection against forgery. */
export function digestOf(text: string): string {
  let digest = 0xcbf29ce484222325n;
  for (const character of text) {
    digest = BigInt.asUintN(64, (digest ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return digest.toString(36);
}
