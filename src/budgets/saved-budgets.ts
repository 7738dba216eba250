import { z } from "zod";
import { Time } from "./back-off.ts";
import { Spent } from "./ledger.ts";

// Unknown fields are ignored: if they were refused, a roll-back from a later version would lose the record of spent requests.
// A change of the meaning of a field raises the version of the state file.

export const SavedBudgets = z
  .object({
    accounts: z.record(z.string(), Spent).readonly(),
    /** When the counts were saved. `shiftSavedBudgets` moves it like the other times. */
    atMs: Time,
  })
  .readonly();
export type SavedBudgets = z.infer<typeof SavedBudgets>;

export const NOTHING_SPENT: SavedBudgets = { accounts: {}, atMs: 0 };

/** Merges two records of the same spending. Counts only grow, so the higher one is right. `other` is the later record. */
export function mergeSavedBudgets(one: SavedBudgets, other: SavedBudgets): SavedBudgets {
  const accounts = new Map(Object.entries(one.accounts));
  for (const [id, spent] of Object.entries(other.accounts)) {
    const known = accounts.get(id);
    accounts.set(id, known === undefined ? spent : mergeSpent(known, spent));
  }
  return { accounts: Object.fromEntries(accounts), atMs: Math.max(one.atMs, other.atMs) };
}

/** Moves all times forward by `aheadMs`. */
export function shiftSavedBudgets(saved: SavedBudgets, aheadMs: number): SavedBudgets {
  const accounts = Object.entries(saved.accounts).map(([id, spent]) => {
    const { refusedAtMs, untilMs } = spent.backOff;
    const backOff = { ...spent.backOff, refusedAtMs: refusedAtMs + aheadMs, untilMs: untilMs + aheadMs };
    return [id, { ...shiftBuckets(spent, aheadMs), backOff }] as const;
  });
  return { accounts: Object.fromEntries(accounts), atMs: saved.atMs + aheadMs };
}

/** Moves the requests of an account to spans that end later by `byMs`. */
export function shiftBuckets(spent: Spent, byMs: number): Spent {
  return { ...spent, buckets: spent.buckets.map(([endMs, ...counts]) => [endMs + byMs, ...counts] as const) };
}

function mergeSpent(one: Spent, other: Spent): Spent {
  const byEnd = new Map(one.buckets.map((bucket) => [bucket[0], bucket]));
  for (const [endMs, scheduled, opportunistic] of other.buckets) {
    const known = byEnd.get(endMs) ?? [endMs, 0, 0];
    byEnd.set(endMs, [endMs, Math.max(scheduled, known[1]), Math.max(opportunistic, known[2])]);
  }
  const buckets = [...byEnd.values()].sort(([a], [b]) => a - b);
  const { backOff } = one.backOff.untilMs >= other.backOff.untilMs ? one : other;
  return { ...one, ...other, buckets, backOff };
}
