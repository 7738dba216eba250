import type { Report } from "../core/report.ts";

/** Called with the number of a report that is worth a look. */
type Listener = (id: number) => void;

/** While nothing turns, ages and heights still move on. */
const QUIET_MS = 5_000;

/** Tells whoever looks that there is something new to see: a turn at once, the rest every five seconds. */
export class News {
  readonly #listeners = new Set<Listener>();
  #picture: string | null = null;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  /** Takes the report of now. */
  take(report: Report): void {
    const before = this.#picture;
    this.#picture = pictureOf(report);
    const sinceMs = Math.abs(report.generatedAtMs - this.#toldAtMs);
    if (sinceMs >= QUIET_MS || before !== this.#picture) {
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

/** What a person would notice at once. */
function pictureOf({ chains, incidents }: Report): string {
  const statuses = chains.flatMap(({ targets }) =>
    targets.map(({ target, status }) => `${target.key} ${status}`),
  );
  const causes = incidents.map(({ scope, subject }) => `${scope} ${subject}`);
  return [...statuses, ...causes].join("\n");
}
