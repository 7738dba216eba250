import { z } from "zod";
import { readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import type { ChainState } from "../../core/chain/chain-state.ts";
import type { Incident } from "../../core/model/report.ts";
import type { SavedState } from "../../io/state/file.ts";
import { readSavedChain, readSavedIncidents } from "../../io/state/saved-chain.ts";

/** What a former process knew. */
export interface RestoredState {
  /** By the chain's slug. */
  readonly chains: ReadonlyMap<string, ChainState>;
  readonly incidents: readonly Incident[];
  readonly budgets: SavedBudgets;
  /** Which question each endpoint answered last, by a digest of its identity. */
  readonly questions: ReadonlyMap<string, number>;
  /** What could not be used, a sentence each. */
  readonly losses: readonly string[];
}

const QuestionsJson = z.record(z.string(), z.int().nonnegative());

/** Our clock was put back by more than this since: what was then is of no use, but for the budgets. */
const FUTURE_MS = 60_000;

/** Nothing at all. */
export const EMPTY_STATE: RestoredState = {
  chains: new Map(),
  incidents: [],
  budgets: { accounts: new Map(), backOffs: new Map() },
  questions: new Map(),
  losses: [],
};

/**
 * Understands a state file. A chain whose part is damaged starts afresh.
 *
 * @throws {z.ZodError} If what is wrong are the budgets: then the file is not to be trusted at all.
 */
export function parseState(state: SavedState, nowMs: number): RestoredState {
  const budgets = readSavedBudgets(state.budgets);
  if (state.savedAtMs > nowMs + FUTURE_MS) {
    const savedAt = new Date(state.savedAtMs).toISOString();
    const loss = `the clock was put back: the file is of ${savedAt}, so only its budgets are used`;
    return { ...EMPTY_STATE, budgets, losses: [loss] };
  }
  const losses: string[] = [];
  function orLost<T>(part: string, lost: T, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof z.ZodError)) {
        throw error;
      }
      losses.push(`${part} starts afresh: ${firstIssue(error)}`);
      return lost;
    }
  }
  const chains = Object.entries(state.chains).flatMap(([slug, json]) => {
    const chain = orLost(`chain ${slug}`, null, () => readSavedChain(json));
    return chain === null ? [] : [[slug, chain] as const];
  });
  return {
    chains: new Map(chains),
    incidents: orLost("the list of incidents", [], () => readSavedIncidents(state.incidents)),
    budgets,
    questions: new Map(
      Object.entries(orLost("the dialects' memory", {}, () => QuestionsJson.parse(state.conversations))),
    ),
    losses,
  };
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue === undefined ? "it is damaged" : `${issue.path.join(".")}: ${issue.message}`;
}
