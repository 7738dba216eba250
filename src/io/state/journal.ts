import { readFile, unlink } from "node:fs/promises";
import { z } from "zod";
import { hasCode, isSystemError } from "../system-error.ts";
import { StateFileError } from "./file.ts";
import { writeAtomically } from "./write-atomically.ts";

/**
 * The file beside a state file that holds what was spent since that was written. It is small enough to be written
 * before each request; the state file grows with the fleet, and is written every few seconds.
 */
function journalPathOf(statePath: string): string {
  return `${statePath}.budgets`;
}

const JournalJson = z.object({ version: z.literal(1), budgets: z.unknown() });

/**
 * Reads the journal; null where there is none.
 *
 * @throws {StateFileError} If it cannot be read.
 * @throws {SyntaxError | z.ZodError} If it is not a journal.
 */
export async function readBudgetJournal(statePath: string): Promise<unknown> {
  const path = journalPathOf(statePath);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return null;
    }
    throw new StateFileError("read", { path, cause: error });
  }
  return JournalJson.parse(JSON.parse(text)).budgets;
}

/** @throws {StateFileError} If it cannot be written. */
export async function writeBudgetJournal(statePath: string, budgets: unknown): Promise<void> {
  const path = journalPathOf(statePath);
  try {
    await writeAtomically(path, JSON.stringify({ version: 1, budgets }));
  } catch (error) {
    throw new StateFileError("write", { path, cause: error });
  }
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
