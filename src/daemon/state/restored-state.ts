import { z } from "zod";
import { readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import type { Incident } from "../../core/model/report.ts";
import type { SavedState } from "../../io/state/file.ts";
import { readSavedChain, readSavedIncidents } from "../../io/state/saved-chain.ts";

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

const QuestionsJson = z.record(z.string(), z.int().nonnegative());

/** A file from further in the future than this means that our clock was set back: only its budgets are used. */
const MAX_FUTURE_MS = 60_000;

export const EMPTY_STATE: RestoredState = {
  chains: new Map(),
  incidents: [],
  budgets: { accounts: new Map(), backOffs: new Map() },
  questions: new Map(),
  warnings: [],
};

/**
 * Parses a state file. A chain whose part is invalid starts empty.
 *
 * @throws {z.ZodError} If the budgets are invalid: then the file cannot be trusted at all.
 */
export function parseState(state: SavedState, nowMs: number): RestoredState {
  // Version 0.1.0 did not write when the budgets were saved.
  const budgets = { atMs: state.savedAtMs, ...readSavedBudgets(state.budgets) };
  if (state.savedAtMs > nowMs + MAX_FUTURE_MS) {
    const savedAt = new Date(state.savedAtMs).toISOString();
    const warning = `the clock was set back: the file was written at ${savedAt}; only its budgets are used`;
    return { ...EMPTY_STATE, budgets, warnings: [warning] };
  }
  const warnings: string[] = [];
  function orElse<T>(part: string, fallback: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof z.ZodError)) {
        throw error;
      }
      warnings.push(`${part} starts empty: ${firstIssue(error)}`);
      return fallback;
    }
  }
  const chains = Object.entries(state.chains).flatMap(([slug, json]) => {
    const chain = orElse(`chain ${slug}`, null, () => readSavedChain(json));
    return chain === null ? [] : [[slug, chain] as const];
  });
  return {
    chains: new Map(chains),
    incidents: orElse("the list of incidents", [], () => readSavedIncidents(state.incidents)),
    budgets,
    questions: new Map(
      Object.entries(orElse("the dialect cache", {}, () => QuestionsJson.parse(state.conversations))),
    ),
    warnings,
  };
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue === undefined ? "it is invalid" : `${issue.path.join(".")}: ${issue.message}`;
}
