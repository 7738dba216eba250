import { readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import type { Incident } from "../../core/model/report.ts";
import type { SavedState } from "../../io/state/file.ts";

/** The state that the previous process left. */
export interface RestoredState {
  /** By the chain's slug. */
  readonly chains: ReadonlyMap<string, ChainState>;
  readonly incidents: readonly Incident[];
  readonly budgets: SavedBudgets;
  /** Which query each endpoint answered last, by a digest of its identity. */
  readonly questions: ReadonlyMap<string, number>;
  /** What was discarded, a sentence each. */
  readonly warnings: readonly string[];
}

/** A file from further in the future than this means that our clock was set back: only its budgets are used. */
const MAX_FUTURE_MS = 60_000;

export const EMPTY_STATE: RestoredState = {
  chains: new Map(),
  incidents: [],
  budgets: { accounts: new Map(), backOffs: new Map(), atMs: 0 },
  questions: new Map(),
  warnings: [],
};

/**
 * What of a state file is used.
 *
 * @throws {z.ZodError} If the budgets are invalid: then the file cannot be trusted at all.
 */
export function parseState(
  { savedAtMs, budgets: saved, chains, incidents, questions }: SavedState,
  nowMs: number,
): RestoredState {
  const budgets = readSavedBudgets(saved);
  if (savedAtMs > nowMs + MAX_FUTURE_MS) {
    const savedAt = new Date(savedAtMs).toISOString();
    const warning = `the clock was set back: the file was written at ${savedAt}; only its budgets are used`;
    return { ...EMPTY_STATE, budgets, warnings: [warning] };
  }
  return {
    chains: new Map(Object.entries(chains)),
    incidents,
    budgets,
    questions: new Map(Object.entries(questions)),
    warnings: [],
  };
}
