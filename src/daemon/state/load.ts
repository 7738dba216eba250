import { z } from "zod";
import { mergeSavedBudgets, readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import { readStateFile, setStateAside } from "../../io/state/file.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import type { World } from "../../world.ts";
import { EMPTY_STATE, parseState, type RestoredState } from "./restored-state.ts";

/**
 * Reads all that a former process left. What cannot be understood is set aside, and told.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function loadState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  const remembered = await readState(path, { logger, nowMs });
  for (const loss of remembered.losses) {
    logger.warn({ path, loss }, "Part of the state file cannot be used");
  }
  const drawn = await readDrawn(path, logger);
  return drawn === null
    ? remembered
    : { ...remembered, budgets: mergeSavedBudgets(remembered.budgets, drawn) };
}

async function readState(
  path: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<RestoredState> {
  let found = await readStateFile(path, nowMs());
  if (found.kind === "state") {
    try {
      return parseState(found.state, nowMs());
    } catch (error) {
      if (!(error instanceof z.ZodError)) {
        throw error;
      }
      found = await setStateAside(path, "its budgets are damaged", nowMs());
    }
  }
  if (found.kind === "set_aside") {
    const { why, movedTo } = found;
    logger.error(
      { path, why, movedTo },
      "State file set aside: nothing is remembered, and budgets count from nothing",
    );
  }
  return EMPTY_STATE;
}

async function readDrawn(path: string, logger: World["logger"]): Promise<SavedBudgets | null> {
  try {
    const drawn = await readBudgetJournal(path);
    return drawn === null ? null : readSavedBudgets(drawn);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      logger.error(
        { path },
        "What was spent just before the end cannot be read: the budgets may count too little",
      );
      return null;
    }
    throw error;
  }
}
