import type { Fleet } from "../../core/model/fleet.ts";
import type { ParityCounter } from "../../core/model/metrics-source.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import { watchProbes } from "../../core/parity/watched-probe.ts";

/** Counts the readings that brought no value, by target and probe; survives a reload for what stays in the fleet. */
export class ParityCounters {
  #counters: ReadonlyMap<string, ParityCounter> = new Map();
  #failures: ReadonlyMap<string, number> = new Map();

  /** Keeps the counts of what stays in `fleet`, drops the rest, and starts what is new at 0. */
  watch(fleet: Fleet): void {
    const before = this.#counters;
    this.#replace(
      fleet.chains.flatMap(({ slug }) =>
        watchProbes(fleet, slug).flatMap(({ name: probe, targets }) =>
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
        const counted = { ...counter, failures: counter.failures + 1 };
        this.#replace(new Map(this.#counters).set(keyOf(reading), counted));
      }
    }
  }

  /** By probe and target, for another replica; the same object until one changes. */
  failures(): ReadonlyMap<string, number> {
    return this.#failures;
  }

  /** Continues what another process has counted; a count that is ahead of it stays. */
  restore(saved: ReadonlyMap<string, number>): void {
    this.#replace(
      [...this.#counters].map(([key, counter]) => [
        key,
        { ...counter, failures: Math.max(counter.failures, saved.get(key) ?? 0) },
      ]),
    );
  }

  all(): readonly ParityCounter[] {
    return [...this.#counters.values()];
  }

  #replace(counters: Iterable<readonly [string, ParityCounter]>): void {
    this.#counters = new Map(counters);
    this.#failures = new Map([...this.#counters].map(([key, { failures }]) => [key, failures]));
  }
}

function keyOf({ probe, target }: Pick<ParityReading, "probe" | "target">): string {
  return `${probe} ${target}`;
}
