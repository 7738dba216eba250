import { constants, open, unlink } from "node:fs/promises";
import { z } from "zod";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets } from "../../budgets/saved-budgets.ts";
import { parseJson } from "../../core/model/text.ts";
import { orNull } from "../system-error.ts";
import { readKept, writeAtomically } from "./kept-file.ts";
import { onStateFile } from "./path.ts";

/**
 * The file beside a state file with the requests spent since the state file was written. A line is appended before each
 * request; the state file grows with the fleet, and is written only once a minute.
 */
function journalPathOf(statePath: string): string {
  return `${statePath}.budgets`;
}

const LineJson = z.object({ version: z.literal(1), budgets: SavedBudgets });

/** The requests in the valid lines, and why other lines are invalid, or null. @throws {StateFileError} If it cannot be read. */
export async function readBudgetJournal(statePath: string) {
  const text = await readKept(journalPathOf(statePath));
  return text === null ? { spent: NOTHING_SPENT, problem: null } : parseJournal(text);
}

/** A crash may have cut off the last line. It is left out then: no request that it counts was sent. */
function parseJournal(text: string) {
  const lines = text.split("\n").filter((line) => line !== "");
  const read = lines.map((line) => LineJson.safeParse(parseJson(line)).data?.budgets);
  const isLastCutOff = lines.length > 1 && read.at(-1) === undefined;
  const invalid = read.filter((line) => line === undefined).length - (isLastCutOff ? 1 : 0);
  return {
    spent: read.filter((line) => line !== undefined).reduce(mergeSavedBudgets, NOTHING_SPENT),
    problem: lines.length > 0 && invalid === 0 ? null : `${invalid} of ${lines.length} lines are invalid`,
  };
}

/** Replaces the journal by one line. @throws {StateFileError} If it cannot be written. */
export async function writeBudgetJournal(statePath: string, budgets: SavedBudgets): Promise<void> {
  const path = journalPathOf(statePath);
  await onStateFile("write", path, () => writeAtomically(path, lineOf(budgets)));
}

/**
 * Appends a line to the journal; false if there is no journal. After a failure it must be replaced, for a part of the line may be there.
 *
 * @throws {StateFileError} If it cannot be written.
 */
export async function appendToBudgetJournal(statePath: string, budgets: SavedBudgets): Promise<boolean> {
  const path = journalPathOf(statePath);
  return await onStateFile("write", path, async () => {
    // Without O_CREAT: the name of a new file would not be on disk yet.
    await using file = await orNull(open(path, constants.O_WRONLY | constants.O_APPEND), "ENOENT");
    await file?.writeFile(lineOf(budgets));
    await file?.datasync();
    return file !== null;
  });
}

function lineOf(budgets: SavedBudgets): string {
  return `${JSON.stringify({ version: 1, budgets })}\n`;
}

/** Called once the state file contains the whole journal. A journal that is not removed does no harm. */
export async function removeBudgetJournal(statePath: string): Promise<void> {
  await orNull(unlink(journalPathOf(statePath)));
}
