import { constants, open, unlink } from "node:fs/promises";
import { z } from "zod";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets } from "../../budgets/saved-budgets.ts";
import { parseJson } from "../../core/model/text.ts";
import { orNull } from "../system-error.ts";
import { readKept, writeAtomically } from "./kept-file.ts";
import { onStateFile } from "./path.ts";

/**
 * The journal lists the requests spent since the state file was written. A line is appended before a request is sent, because the
 * state file, which grows with the fleet, is written only once a minute.
 */
function journalPathOf(statePath: string): string {
  return `${statePath}.budgets`;
}

const LineJson = z.object({ version: z.literal(1), budgets: SavedBudgets });

/** The requests in the valid lines, and a problem if lines are invalid. @throws {StateFileError} If the journal cannot be read. */
export async function readBudgetJournal(statePath: string) {
  const text = await readKept(journalPathOf(statePath));
  return text === null ? { spent: NOTHING_SPENT, problem: null } : parseJournal(text);
}

/** A crash may have cut off the last line. Such a line is ignored, because its request was not sent. */
function parseJournal(text: string) {
  const lines = text.split("\n").filter((line) => line !== "");
  const read = lines.map((line) => LineJson.safeParse(parseJson(line)).data?.budgets);
  const isLastCutOff = lines.length > 1 && read.at(-1) === undefined;
  const valid = read.filter((line) => line !== undefined);
  const invalid = lines.length - valid.length - (isLastCutOff ? 1 : 0);
  return {
    spent: valid.reduce(mergeSavedBudgets, NOTHING_SPENT),
    problem: lines.length > 0 && invalid === 0 ? null : `${valid.length} of ${lines.length} lines are valid`,
  };
}

/** Replaces the journal by one line. @throws {StateFileError} If it cannot be written. */
export async function writeBudgetJournal(statePath: string, budgets: SavedBudgets): Promise<void> {
  const path = journalPathOf(statePath);
  await onStateFile("write", path, () => writeAtomically(path, lineOf(budgets)));
}

/**
 * Appends a line to the journal; false if there is no journal. After a failure the journal must be replaced, because it may
 * contain a part of the line.
 *
 * @throws {StateFileError} If it cannot be written.
 */
export async function appendToBudgetJournal(statePath: string, budgets: SavedBudgets): Promise<boolean> {
  const path = journalPathOf(statePath);
  return await onStateFile("write", path, async () => {
    // No O_CREAT: a power cut could lose a file that this call creates, because its folder is not synced.
    await using file = await orNull(open(path, constants.O_WRONLY | constants.O_APPEND), "ENOENT");
    await file?.writeFile(lineOf(budgets));
    await file?.datasync();
    return file !== null;
  });
}

function lineOf(budgets: SavedBudgets): string {
  return `${JSON.stringify({ version: 1, budgets })}\n`;
}

/** Removes the journal, whose requests the state file contains by now. A journal that stays does no harm. */
export async function removeBudgetJournal(statePath: string): Promise<void> {
  await orNull(unlink(journalPathOf(statePath)));
}
