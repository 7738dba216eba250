import type { FaultName } from "../fleet/fault-list.ts";
import type { SimulatedFleet } from "../fleet/simulated-fleet.ts";
import type { TargetBehaviour } from "../fleet/simulated-target.ts";

/** A change to a fleet, as data. In every pattern a `*` stands for one whole part of a key. */
export type Change =
  | { readonly kind: "freeze"; readonly targets: string }
  /** They advance at this share of their pace. */
  | { readonly kind: "slow"; readonly targets: string; readonly pace: number }
  /** What is frozen or slow catches up, and reaches the tip after `withinSec`. */
  | { readonly kind: "thaw"; readonly targets: string; readonly withinSec: number }
  | {
      readonly kind: "reindex";
      readonly targets: string;
      readonly backBlocks: number;
      readonly withinSec: number;
    }
  /** From the next event on, they have no row of every nth, and stand at the head all the same. */
  | { readonly kind: "skip_events"; readonly targets: string; readonly nth: number }
  | { readonly kind: "set"; readonly targets: string; readonly behaviour: Partial<TargetBehaviour> }
  /** They index this chain instead of their own. */
  | { readonly kind: "wrong_chain"; readonly targets: string; readonly chain: string }
  | { readonly kind: "fail"; readonly endpoints: string; readonly fault: FaultName }
  | { readonly kind: "heal"; readonly endpoints: string }
  | { readonly kind: "halt" | "resume"; readonly chain: string }
  /** Every host refuses connections. */
  | { readonly kind: "close_all" }
  | { readonly kind: "heal_all" };

export interface Step {
  /** Seconds after the start of the scenario, at speed 1. */
  readonly atSec: number;
  /** One line for the person who watches. */
  readonly say: string;
  readonly changes: readonly Change[];
}

/** A sequence of steps that a fleet goes through again and again. */
export interface Scenario {
  readonly name: string;
  /** One line for the help text. */
  readonly about: string;
  /** In chronological order, the first at 0 or later. */
  readonly steps: readonly Step[];
  /** It starts again after so many seconds. */
  readonly loopSec: number;
}

/** Applies a change. `speed` shortens its durations. @throws {RangeError} If a pattern matches nothing. */
export async function applyChange(fleet: SimulatedFleet, change: Change, speed: number): Promise<void> {
  switch (change.kind) {
    case "close_all":
      await Promise.all(fleet.origins.map((origin) => origin.close()));
      return;
    case "heal_all":
      await fleet.heal();
      return;
    case "halt":
    case "resume":
      fleet.chain(change.chain)[change.kind]();
      return;
    case "fail":
    case "heal":
      changeEndpoints(fleet, change);
      return;
    case "freeze":
    case "slow":
    case "thaw":
    case "reindex":
    case "skip_events":
    case "set":
    case "wrong_chain":
      changeTargets(fleet, change, speed);
      return;
  }
}

type EndpointChange = Extract<Change, { readonly endpoints: string }>;
type TargetChange = Extract<Change, { readonly targets: string }>;

function changeEndpoints(fleet: SimulatedFleet, change: EndpointChange): void {
  for (const endpoint of some(fleet.endpoints(change.endpoints), change.endpoints)) {
    if (change.kind === "fail") {
      endpoint.fail(change.fault);
    } else {
      endpoint.heal();
    }
  }
}

function changeTargets(fleet: SimulatedFleet, change: TargetChange, speed: number): void {
  for (const target of some(fleet.targets(change.targets), change.targets)) {
    switch (change.kind) {
      case "freeze":
        target.freeze();
        break;
      case "slow":
        target.slow(change.pace);
        break;
      case "thaw":
        target.thaw((change.withinSec * 1_000) / speed);
        break;
      case "reindex":
        target.reindex({ backBlocks: change.backBlocks, withinMs: (change.withinSec * 1_000) / speed });
        break;
      case "skip_events":
        target.skipEvents(change.nth);
        break;
      case "set":
        target.set(change.behaviour);
        break;
      case "wrong_chain":
        target.set({ wrongChain: fleet.chain(change.chain).model });
        break;
    }
  }
}

function some<Item>(found: readonly Item[], pattern: string): readonly Item[] {
  if (found.length === 0) {
    throw new RangeError(`Cannot change ${pattern}: the fleet has none of it`);
  }
  return found;
}
