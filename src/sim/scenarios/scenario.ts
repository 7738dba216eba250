import { setTimeout as sleep } from "node:timers/promises";
import type { SimulatedFleet } from "../fleet/simulated-fleet.ts";

export interface Step {
  /** Seconds after the start of the scenario, at speed 1. */
  readonly atSec: number;
  /** One line for the log of the demo. */
  readonly say: string;
  /** What happens to the fleet. `speed` 2 halves its durations. */
  readonly happens: (fleet: SimulatedFleet, speed: number) => void | Promise<void>;
}

/** A sequence of steps that is repeated. */
export interface Scenario {
  readonly name: string;
  /** One line for the first output of the demo. */
  readonly about: string;
  /** In chronological order, the first at 0 or later. */
  readonly steps: readonly Step[];
  /** The number of seconds after which it starts again. */
  readonly loopSec: number;
}

/** Repeats a scenario until disposed. `onStep` is called after each step. */
export function playScenario(
  fleet: SimulatedFleet,
  scenario: Scenario,
  options: {
    /** 2: twice as fast. */
    readonly speed: number;
    readonly onStep: (step: Step) => void;
    /** Called once if a step fails: a mistake in the scenario. */
    readonly onBug: (error: unknown) => void;
  },
): AsyncDisposable {
  const { speed, onStep, onBug } = options;
  const stop = new AbortController();
  const waitSec = (durationSec: number): Promise<void> =>
    sleep((durationSec * 1_000) / speed, undefined, { signal: stop.signal });

  async function playForever(): Promise<void> {
    while (!stop.signal.aborted) {
      let atSec = 0;
      for (const step of scenario.steps) {
        await waitSec(step.atSec - atSec);
        atSec = step.atSec;
        await step.happens(fleet, speed);
        onStep(step);
      }
      await waitSec(scenario.loopSec - atSec);
    }
  }

  const played = playForever().catch((error: unknown) => {
    if (!stop.signal.aborted) {
      onBug(error);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await played;
    },
  };
}

export function each<Item>(items: readonly Item[], act: (item: Item) => void): void {
  for (const item of items) {
    act(item);
  }
}
