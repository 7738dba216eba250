import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets, shiftBuckets } from "../../budgets/saved-budgets.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import type { Incident } from "../../core/model/report.ts";
import { parseJson } from "../../core/model/text.ts";
import { readStateFile, type SavedState } from "../../io/state/file.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import { orNull } from "../../io/system-error.ts";
import type { World } from "../../io/world.ts";

/** The state that the previous process left. */
export interface RestoredState {
  /** By the chain's slug. */
  readonly chains: ReadonlyMap<string, ChainState>;
  readonly incidents: readonly Incident[];
  readonly budgets: SavedBudgets;
  /** Which query each endpoint answered last, by a digest of its identity. */
  readonly questions: ReadonlyMap<string, number>;
  /** When the process before this one was last known to run; null: unknown. */
  readonly aliveMs: number | null;
}

/** A file from further in the future than this means that our clock was set back: only its budgets are used. */
const MAX_FUTURE_MS = 60_000;

export const EMPTY_STATE: RestoredState = {
  chains: new Map(),
  incidents: [],
  budgets: NOTHING_SPENT,
  questions: new Map(),
  aliveMs: null,
};

/** What of a state file is used. `onDiscarded`: called with a sentence that says what is not. */
export function usableState(
  { savedAtMs, budgets, chains, incidents, questions }: SavedState,
  nowMs: number,
  onDiscarded: (detail: string) => void,
): RestoredState {
  if (savedAtMs > nowMs + MAX_FUTURE_MS) {
    const savedAt = new Date(savedAtMs).toISOString();
    onDiscarded(`the clock was set back: the file was written at ${savedAt}; only its budgets are used`);
    return { ...EMPTY_STATE, budgets };
  }
  return {
    chains: new Map(Object.entries(chains)),
    incidents,
    budgets,
    questions: new Map(Object.entries(questions)),
    aliveMs: savedAtMs,
  };
}

/**
 * Reads the state that the previous process left. An invalid file is moved aside and logged.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function loadState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  const discard = (detail: string): void => logger.warn({ path, detail }, "State file partly discarded");
  const saved = await readStateFile(path, { logger, nowMs });
  const restored = saved === null ? EMPTY_STATE : usableState(saved, nowMs(), discard);
  const { spent, problem } = await readBudgetJournal(path);
  if (problem !== null) {
    logger.error({ path, reason: problem }, "Budget journal damaged; budgets may be undercounted");
  }
  return { ...restored, budgets: mergeSavedBudgets(restored.budgets, spent) };
}

/**
 * What the state file says was spent, for a store that is used in its place. Null where there is no file, or it cannot be read: it may
 * have moved away long ago.
 *
 * The spans of this host's file end some milliseconds later than those of other files and of the store. So they are counted beside
 * these, and carrying them over again changes nothing.
 */
export async function spentInFile(path: string): Promise<SavedBudgets | null> {
  const text = await orNull(readFile(path, "utf8"));
  const { data } = z.object({ budgets: SavedBudgets }).safeParse(parseJson(text ?? ""));
  if (data === undefined) {
    return null;
  }
  const { accounts, ...saved } = mergeSavedBudgets(data.budgets, (await readBudgetJournal(path)).spent);
  const laterMs = 1 + (createHash("sha256").update(hostname()).digest().readUInt16BE() % 999);
  const shifted = Object.entries(accounts).map(([id, spent]) => [id, shiftBuckets(spent, laterMs)] as const);
  return { ...saved, accounts: Object.fromEntries(shifted) };
}
