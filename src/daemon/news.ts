import { incidentKey, type Report } from "../core/model/report.ts";
import { looksAlike } from "../core/report/looks-alike.ts";

/** Called with the number of a report that is worth a look. */
type Listener = (id: number) => void;

/** While nothing turns, ages and heights still move on. */
const QUIET_MS = 5_000;

/** Tells whoever looks that there is something new to see: a turn at once, the rest every five seconds. */
export class News {
  readonly #listeners = new Set<Listener>();
  #latest: Report | null = null;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  /** Takes the report of now. */
  take(report: Report): void {
    const before = this.#latest;
    this.#latest = report;
    const sinceMs = Math.abs(report.generatedAtMs - this.#toldAtMs);
    if (sinceMs >= QUIET_MS || before === null || !looksLike(before, report)) {
      this.#toldAtMs = report.generatedAtMs;
      for (const listener of this.#listeners) {
        listener(report.generatedAtMs);
      }
    }
  }

  /** Ends with the call of what it returns. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Whether a person would notice no change at once. */
function looksLike(before: Report, after: Report): boolean {
  return (
    isEvery(before.incidents, after.incidents, (was, is) => incidentKey(was) === incidentKey(is)) &&
    isEvery(before.chains, after.chains, looksAlike)
  );
}

function isEvery<Item>(
  before: readonly Item[],
  after: readonly Item[],
  isAlike: (was: Item, is: Item) => boolean,
): boolean {
  return (
    before.length === after.length &&
    before.every((was, index) => {
      const is = after[index];
      return is !== undefined && isAlike(was, is);
    })
  );
}
