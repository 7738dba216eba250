import { ChainHistory, type HistorySlice, type SavedHistory, type Span } from "../../core/history/history.ts";
import type { ChainReport, Report } from "../../core/model/report.ts";

/** Keeps the history of every configured chain, for the plots. */
export class Recorder {
  #chains = new Map<string, ChainHistory>();

  /** Continues what the previous process saved. */
  restore(saved: Readonly<Record<string, SavedHistory>>): void {
    this.#chains = new Map(
      Object.entries(saved).map(([slug, history]) => [slug, new ChainHistory().restore(history)]),
    );
  }

  /** Records a chain at `nowMs`. */
  record(report: ChainReport, nowMs: number): void {
    const { slug } = report;
    const history = this.#chains.get(slug) ?? new ChainHistory();
    this.#chains.set(slug, history);
    history.record(report, nowMs);
  }

  /** Drops the chains that a report lacks. */
  retain({ chains }: Report): void {
    const known = new Set(chains.map(({ slug }) => slug));
    for (const slug of this.#chains.keys()) {
      if (!known.has(slug)) {
        this.#chains.delete(slug);
      }
    }
  }

  /** A stretch of a chain's history for the targets with these keys. */
  past(chain: string, keys: readonly string[], span: Span): HistorySlice {
    return (this.#chains.get(chain) ?? new ChainHistory()).read(keys, span);
  }

  /** Everything as plain data, one chain at a time. */
  *save(): Iterable<readonly [slug: string, history: SavedHistory]> {
    for (const [slug, history] of this.#chains) {
      yield [slug, history.save()];
    }
  }
}
