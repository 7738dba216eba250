import {
  type ChainHistory,
  type HistorySlice,
  NEW_HISTORY,
  readHistory,
  recordChain,
  resumeHistory,
  type SavedHistory,
  type Span,
  saveHistory,
} from "../core/history/history.ts";
import type { ChainReport, Report } from "../core/model/report.ts";

/** Keeps the past of every chain that is watched, for the plots. */
export class Recorder {
  #chains = new Map<string, ChainHistory>();

  /** Goes on from what a former process has saved. */
  restore(saved: Readonly<Record<string, SavedHistory>>): void {
    const resumed = Object.entries(saved).map(([slug, history]) => [slug, resumeHistory(history)] as const);
    this.#chains = new Map(resumed);
  }

  /** Takes in what is known of a chain at `nowMs`. */
  record(report: ChainReport, nowMs: number): void {
    const { slug } = report.chain;
    this.#chains.set(slug, recordChain(this.#chains.get(slug) ?? NEW_HISTORY, report, nowMs));
  }

  /** Forgets the chains that a report lacks. */
  retain({ chains }: Report): void {
    if (chains.length === this.#chains.size && chains.every(({ chain }) => this.#chains.has(chain.slug))) {
      return;
    }
    const known = new Set(chains.map(({ chain }) => chain.slug));
    for (const slug of this.#chains.keys()) {
      if (!known.has(slug)) {
        this.#chains.delete(slug);
      }
    }
  }

  /** A stretch of a chain's past for the targets with these keys. */
  past(chain: string, keys: readonly string[], span: Span): HistorySlice {
    return readHistory(this.#chains.get(chain) ?? NEW_HISTORY, keys, span);
  }

  /** All of it as plain data, chain by chain under its slug. */
  *save(): Iterable<readonly [slug: string, history: SavedHistory]> {
    for (const [slug, history] of this.#chains) {
      yield [slug, saveHistory(history)];
    }
  }
}
