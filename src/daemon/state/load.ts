import { z } from "zod";
import { mergeSavedBudgets, readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import type { Incident } from "../../core/model/report.ts";
import { moveAside, readStateFile, type SavedState } from "../../io/state/file.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import type { World } from "../../io/world.ts";

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

/**
 * Reads the state that the previous process left. An invalid file is moved aside and logged.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function loadState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  const restored = await readState(path, { logger, nowMs });
  for (const detail of restored.warnings) {
    logger.warn({ path, detail }, "State file partly discarded");
  }
  const drawn = await readDrawn(path, logger);
  return drawn === null ? restored : { ...restored, budgets: mergeSavedBudgets(restored.budgets, drawn) };
}

async function readState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  let found = await readStateFile(path, nowMs());
  if (found.kind === "state") {
    try {
      const restored = parseState(found.state, nowMs());
      return { ...restored, warnings: [...found.warnings, ...restored.warnings] };
    } catch (error) {
      if (!(error instanceof z.ZodError)) {
        throw error;
      }
      found = await moveAside(path, "its budgets are invalid", nowMs());
    }
  }
  if (found.kind === "moved_aside") {
    const { reason, movedTo } = found;
    logger.error(
      { path, reason, movedTo },
      "State file invalid, moved aside; starting with empty state and budgets",
    );
  }
  return EMPTY_STATE;
}

async function readDrawn(path: string, logger: World["logger"]): Promise<SavedBudgets | null> {
  const { spent, problem } = await readBudgetJournal(path);
  if (problem !== null) {
    logger.error({ path, reason: problem }, "Budget journal damaged; budgets may be undercounted");
  }
  const [first, ...appended] = spent;
  return first === undefined ? null : appended.reduce(mergeSavedBudgets, first);
}
