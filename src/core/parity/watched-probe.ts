import { type Fleet, isProduction, type Target } from "../model/fleet.ts";
import { queryKeyOf } from "../model/selection.ts";

/** What is compared on one chain for one probe. */
export interface WatchedProbe {
  readonly name: string;
  readonly everyMs: number;
  /** The targets of the chain for which this probe has a selection, in the order of the fleet. */
  readonly targets: readonly ProbedTarget[];
  readonly compared: readonly ComparedTargets[];
}

export interface ProbedTarget extends Target {
  /** Identifies the query, from `queryKeyOf`. A value counts only if this query read it. */
  readonly queryKey: string;
}

/** Two targets that must have the same value. */
export interface ComparedTargets {
  readonly target: ProbedTarget;
  readonly against: ProbedTarget;
  /** The keys of both queries. */
  readonly key: string;
}

/** The probes that compare something on this chain. */
export function watchProbes(fleet: Fleet, chain: string): readonly WatchedProbe[] {
  return fleet.parity.flatMap(({ name, everyMs }) => {
    const targets = targetsOf(fleet, name, chain);
    const compared = comparedAmong(targets);
    return compared.length === 0 ? [] : [{ name, everyMs, targets, compared }];
  });
}

/** About the time between two readings of this target. */
export function readingIntervalMs({ everyMs }: Pick<WatchedProbe, "everyMs">, target: Target): number {
  return Math.max(everyMs, target.pollIntervalMs);
}

function targetsOf({ indexers }: Fleet, probe: string, chain: string): readonly ProbedTarget[] {
  return indexers
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ selections = [], targets }) =>
      targets
        .filter((target) => target.chain === chain)
        .flatMap((target) => {
          const selection = selections.find((one) => one.probe === probe && one.target === target.key);
          return selection ? [{ ...target, queryKey: queryKeyOf(selection) }] : [];
        }),
    );
}

/**
 * Compares every two targets of the tier that serves users, to show which of three differs. A target of another tier is compared
 * only with the first target.
 */
function comparedAmong(targets: readonly ProbedTarget[]): readonly ComparedTargets[] {
  const first = targets.find(isProduction) ?? targets[0];
  const serving = targets.filter(({ tier }) => tier === first?.tier);
  const rest = targets.filter(({ tier }) => tier !== first?.tier);
  return [...serving, ...rest].flatMap((target, index) =>
    serving.slice(0, index < serving.length ? index : 1).map((against) => {
      return { target, against, key: `${target.queryKey} ${against.queryKey}` };
    }),
  );
}
