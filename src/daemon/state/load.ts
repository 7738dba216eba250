import { z } from "zod";
import { mergeSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import { moveAside, readStateFile } from "../../io/state/file.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import type { World } from "../../io/world.ts";
import { EMPTY_STATE, parseState, type RestoredState } from "./restored-state.ts";

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
