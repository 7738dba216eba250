import {
  type ChainHistory,
  NEW_HISTORY,
  type PastChain,
  readHistory,
  recordChain,
  resumeHistory,
  type SavedHistory,
  type Span,
  saveHistory,
} from "../core/history.ts";
import type { Report } from "../core/report.ts";

/** Keeps the past of every chain that is watched, for the plots. */
export class Recorder {
  #chains: ReadonlyMap<string, ChainHistory> = new Map();

  /** Goes on from what a former process has saved. */
  restore(saved: Readonly<Record<string, SavedHistory>>): void {
    const resumed = Object.entries(saved).map(([slug, history]) => [slug, resumeHistory(history)] as const);
    this.#chains = new Map(resumed);
  }

  /** Takes in a report; a chain that it lacks is forgotten. */
  record({ chains, generatedAtMs }: Report): void {
    const recorded = chains.map((report) => {
      const { slug } = report.chain;
      const history = this.#chains.get(slug) ?? NEW_HISTORY;
      return [slug, recordChain(history, report, generatedAtMs)] as const;
    });
    this.#chains = new Map(recorded);
  }

  /** A stretch of a chain's past for the targets with these keys. */
  past(chain: string, keys: readonly string[], span: Span): PastChain {
    return readHistory(this.#chains.get(chain) ?? NEW_HISTORY, keys, span);
  }

  /** All of it as plain data, chain by chain under its slug. */
  *save(): Iterable<readonly [slug: string, history: SavedHistory]> {
    for (const [slug, history] of this.#chains) {
      yield [slug, saveHistory(history)];
    }
  }
}
