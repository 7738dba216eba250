import { constants, open, unlink } from "node:fs/promises";
import { z } from "zod";
import { readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import { isSystemError, orNull } from "../system-error.ts";
import { readText, TOO_LONG } from "./file.ts";
import { StateFileError } from "./path.ts";
import { writeAtomically } from "./write-atomically.ts";

/**
 * The file beside a state file that holds what was spent since that was written, a line for each time that something was. It is
 * appended to before each request; the state file grows with the fleet, and is written once a minute.
 */
function journalPathOf(statePath: string): string {
  return `${statePath}.budgets`;
}

const LineJson = z.object({ version: z.literal(1), budgets: z.unknown() });

/** What a journal holds. */
interface JournalFound {
  /** Of each line, oldest first. */
  readonly spent: readonly SavedBudgets[];
  /** Why part of it cannot be used; null where all of it can. */
  readonly problem: string | null;
}

/**
 * Reads the journal, if there is one. The last line may have been cut off by a crash, before any request that it counts was sent: then it
 * is left out.
 *
 * @throws {StateFileError} If it cannot be read.
 */
export async function readBudgetJournal(statePath: string): Promise<JournalFound> {
  const text = await readText(journalPathOf(statePath));
  if (text === null || text === TOO_LONG) {
    return { spent: [], problem: text };
  }
  const lines = text.split("\n").filter((line) => line !== "");
  const read = lines.map(readLine);
  const isLastCutOff = lines.length > 1 && read.at(-1) === null;
  const invalid = read.filter((line) => line === null).length - (isLastCutOff ? 1 : 0);
  return {
    spent: read.filter((line) => line !== null),
    problem: lines.length > 0 && invalid === 0 ? null : `${invalid} of ${lines.length} lines are invalid`,
  };
}

function readLine(line: string): SavedBudgets | null {
  try {
    return readSavedBudgets(LineJson.parse(JSON.parse(line)).budgets);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      return null;
    }
    throw error;
  }
}

/** Replaces the journal by one line. @throws {StateFileError} If it cannot be written. */
export async function writeBudgetJournal(statePath: string, budgets: unknown): Promise<void> {
  const path = journalPathOf(statePath);
  try {
    await writeAtomically(path, lineOf(budgets));
  } catch (error) {
    throw new StateFileError("write", { path, cause: error });
  }
}

/**
 * Appends a line to the journal; false if there is no journal. After a failure it must be replaced, for a part of the line may be there.
 *
 * @throws {StateFileError} If it cannot be written.
 */
export async function appendToBudgetJournal(statePath: string, budgets: unknown): Promise<boolean> {
  const path = journalPathOf(statePath);
  try {
    // Without O_CREAT: the name of a new file would not be on disk yet.
    await using file = await orNull(open(path, constants.O_WRONLY | constants.O_APPEND), "ENOENT");
    await file?.writeFile(lineOf(budgets));
    await file?.datasync();
    return file !== null;
  } catch (error) {
    throw new StateFileError("write", { path, cause: error });
  }
}

function lineOf(budgets: unknown): string {
  return `${JSON.stringify({ version: 1, budgets })}\n`;
}

/** Called once the state file holds all of it; a journal that stays does no harm. */
export async function removeBudgetJournal(statePath: string): Promise<void> {
  try {
    await unlink(journalPathOf(statePath));
  } catch (error) {
    if (!isSystemError(error)) {
      throw error;
    }
  }
}
