import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { Budgets } from "../../budgets/budgets.ts";
import { mergeSavedBudgets, readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import type { Fleet } from "../../core/model/fleet.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import { type AccountFields, backOffFields } from "../../io/store/account-fields.ts";
import { isSystemError } from "../../io/system-error.ts";

/**
 * What the state file says was spent, by the account's id, as fields of the store: under the name `file HOST`, so that carrying it
 * over again changes nothing. With the back-off, where the provider refused. Empty where there is no file, or it cannot be read: it may have moved away long ago.
 */
export async function spentInFile(path: string, fleet: Fleet): Promise<ReadonlyMap<string, AccountFields>> {
  const saved = await readSaved(path);
  if (saved === null) {
    return new Map();
  }
  const budgets = new Budgets(fleet);
  budgets.restore(saved);
  const accounts = [...budgets.accounts()].map(([id, { ledger }]) => {
    const fields = ledger.buckets.flatMap(({ endMs, scheduled, opportunistic }) => [
      [`s:${endMs}:file ${hostname()}`, scheduled.toString()] as const,
      [`o:${endMs}:file ${hostname()}`, opportunistic.toString()] as const,
    ]);
    return [id, new Map([...fields, ...backOffFields(ledger.backOff)])] as const;
  });
  return new Map(accounts.filter(([, fields]) => fields.size > 0));
}

async function readSaved(path: string): Promise<SavedBudgets | null> {
  try {
    const { budgets } = z.object({ budgets: z.unknown() }).parse(JSON.parse(await readFile(path, "utf8")));
    const { spent } = await readBudgetJournal(path);
    return spent.reduce(mergeSavedBudgets, readSavedBudgets(budgets));
  } catch (error) {
    if (isSystemError(error) || error instanceof SyntaxError || error instanceof z.ZodError) {
      return null;
    }
    throw error;
  }
}
