import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { z } from "zod";
import { mergeSavedBudgets, readSavedBudgets, type SavedBudgets } from "../../budgets/snapshot.ts";
import { readBudgetJournal } from "../../io/state/journal.ts";
import { isSystemError } from "../../io/system-error.ts";

/**
 * What the state file says was spent, for a store that is used in its place. Null where there is no file, or it cannot be read: it may
 * have moved away long ago.
 *
 * The spans of this host's file end some milliseconds later than those of other files and of the store. So they are counted beside
 * these, and carrying them over again changes nothing.
 */
export async function spentInFile(path: string): Promise<SavedBudgets | null> {
  try {
    const { budgets } = z.object({ budgets: z.unknown() }).parse(JSON.parse(await readFile(path, "utf8")));
    const { spent } = await readBudgetJournal(path);
    const { accounts, ...saved } = spent.reduce(mergeSavedBudgets, readSavedBudgets(budgets));
    const laterMs = 1 + (createHash("sha256").update(hostname()).digest().readUInt16BE() % 999);
    const shifted = [...accounts].map(([id, account]) => {
      const buckets = account.buckets.map((bucket) => ({ ...bucket, endMs: bucket.endMs + laterMs }));
      return [id, { ...account, buckets }] as const;
    });
    return { ...saved, accounts: new Map(shifted) };
  } catch (error) {
    if (isSystemError(error) || error instanceof SyntaxError || error instanceof z.ZodError) {
      return null;
    }
    throw error;
  }
}
