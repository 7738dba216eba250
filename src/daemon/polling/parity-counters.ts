import { watchFleet } from "../../core/chain/watch-chain.ts";
import type { Fleet } from "../../core/model/fleet.ts";
import type { ParityCounter } from "../../core/model/metrics-source.ts";
import type { ParityReading } from "../../core/model/parity.ts";

/** Counts the readings that brought no value, by target and probe; survives a reload for what stays in the fleet. */
export class ParityCounters {
  #counters: ReadonlyMap<string, ParityCounter> = new Map();

  /** Keeps the counts of what stays in `fleet`, drops the rest, and starts what is new at 0. */
  watch(fleet: Fleet): void {
    const before = this.#counters;
    this.#counters = new Map(
      watchFleet(fleet).flatMap(({ probes = [] }) =>
        probes.flatMap(({ name: probe, targets }) =>
          targets.map(({ target }) => {
            const key = keyOf({ probe, target: target.key });
            return [key, { target, probe, failures: before.get(key)?.failures ?? 0 }] as const;
          }),
        ),
      ),
    );
  }

  /** Counts those of `readings` that failed. One that a reload removed while its poll was under way is not counted. */
  count(readings: readonly ParityReading[]): void {
    for (const reading of readings) {
      const counter = this.#counters.get(keyOf(reading));
      if (reading.kind === "failed" && counter !== undefined) {
        this.#counters = new Map(this.#counters).set(keyOf(reading), {
          ...counter,
          failures: counter.failures + 1,
        });
      }
    }
  }

  all(): readonly ParityCounter[] {
    return [...this.#counters.values()];
  }
}

function keyOf({ probe, target }: Pick<ParityReading, "probe" | "target">): string {
  return `${probe} ${target}`;
}
