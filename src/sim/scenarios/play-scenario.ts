import { setTimeout as sleep } from "node:timers/promises";
import type { SimulatedFleet } from "../fleet/simulated-fleet.ts";
import { applyChange, type Scenario, type Step } from "./scenario.ts";

/** Plays a scenario again and again until disposed. `onStep` is called after each step. */
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
  const stop = new AbortController();
  const waitSec = (durationSec: number): Promise<void> =>
    sleep((durationSec * 1_000) / options.speed, undefined, { signal: stop.signal });

  async function playForever(): Promise<void> {
    while (!stop.signal.aborted) {
      let atSec = 0;
      for (const step of scenario.steps) {
        await waitSec(step.atSec - atSec);
        atSec = step.atSec;
        await applyStep(fleet, step, options.speed);
        options.onStep(step);
      }
      await waitSec(scenario.loopSec - atSec);
    }
  }

  const played = playForever().catch((error: unknown) => {
    if (!stop.signal.aborted) {
      options.onBug(error);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await played;
    },
  };
}

/** Applies all changes of a step. */
export async function applyStep(fleet: SimulatedFleet, step: Step, speed: number): Promise<void> {
  for (const change of step.changes) {
    await applyChange(fleet, change, speed);
  }
}
