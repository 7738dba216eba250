import { type Counted, type Counts, DURATION_BUCKETS_SECONDS } from "../../core/model/metrics-source.ts";

/** Counts of one endpoint since the start of the process, or of an earlier leader. */
export class Counters {
  readonly #counts: { -readonly [Name in keyof Counts]: Counts[Name] } = {};
  /** Changes with the counts. */
  revision = 0;

  get counts(): Counts {
    return this.#counts;
  }

  add(counted: Counted, by = 1): void {
    this.#counts[counted] = (this.#counts[counted] ?? 0) + by;
    this.revision += 1;
  }

  addRequest(durationMs: number): void {
    this.add("requests");
    this.#addDuration("", durationMs);
  }

  /** A request with the query of a probe. */
  addQuery(probe: string, durationMs: number): void {
    this.#addDuration(`query ${probe} `, durationMs);
  }

  #addDuration(prefix: "" | `query ${string} `, durationMs: number): void {
    const seconds = durationMs / 1_000;
    this.add(`${prefix}seconds`, seconds);
    this.add(`${prefix}within: ${DURATION_BUCKETS_SECONDS.find((most) => seconds <= most) ?? Number.NaN}`);
  }

  /** Continues the counts of another process; higher counts of this process stay. */
  restore(saved: Counts): void {
    for (const [name, count] of Object.entries<number | undefined>(saved)) {
      // Object.entries widens the keys.
      const counted = name as Counted;
      this.#counts[counted] = Math.max(this.#counts[counted] ?? 0, count ?? 0);
    }
    this.revision += 1;
  }
}
