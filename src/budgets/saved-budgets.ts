import { z } from "zod";
import { BackOff, Time } from "./back-off.ts";
import { Spent } from "./ledger.ts";

// Unknown fields are ignored: what a later version adds must not cost the record of what was spent after a roll back to
// this one. A change of the meaning of a field raises the version of the state file.

/** The part of the state file about budgets. */
export const SavedBudgets = z
  .object({
    /** By the account's id. */
    accounts: z.record(z.string(), Spent).readonly(),
    /** Of endpoints without a budget, by a digest of the URL. */
    backOffs: z.record(z.string(), BackOff).readonly(),
    /** When that was so, by the clock of the budgets. */
    atMs: Time,
  })
  .readonly();
export type SavedBudgets = z.infer<typeof SavedBudgets>;

export const NOTHING_SPENT: SavedBudgets = { accounts: {}, backOffs: {}, atMs: 0 };

/** Merges two records of the same spending, in either order: counts only grow, so the higher one is right. */
export function mergeSavedBudgets(one: SavedBudgets, other: SavedBudgets): SavedBudgets {
  return {
    accounts: mergeRecords(one.accounts, other.accounts, mergeSpent),
    backOffs: mergeRecords(one.backOffs, other.backOffs, laterBackOff),
    atMs: Math.max(one.atMs, other.atMs),
  };
}

/** Moves all times forward by `aheadMs`. */
export function shiftSavedBudgets(saved: SavedBudgets, aheadMs: number): SavedBudgets {
  if (aheadMs === 0) {
    return saved;
  }
  return {
    accounts: mapRecord(saved.accounts, (spent) => ({
      ...shiftBuckets(spent, aheadMs),
      backOff: shiftBackOff(spent.backOff, aheadMs),
    })),
    backOffs: mapRecord(saved.backOffs, (backOff) => shiftBackOff(backOff, aheadMs)),
    atMs: saved.atMs + aheadMs,
  };
}

/** Moves the requests of an account to spans that end so much later. */
export function shiftBuckets(spent: Spent, byMs: number): Spent {
  return { ...spent, buckets: spent.buckets.map(([endMs, ...counts]) => [endMs + byMs, ...counts] as const) };
}

function mergeSpent(one: Spent, other: Spent): Spent {
  const byEnd = new Map(one.buckets.map((bucket) => [bucket[0], bucket]));
  for (const [endMs, scheduled, opportunistic] of other.buckets) {
    const [, knownScheduled, knownOpportunistic] = byEnd.get(endMs) ?? [endMs, 0, 0];
    byEnd.set(endMs, [
      endMs,
      Math.max(scheduled, knownScheduled),
      Math.max(opportunistic, knownOpportunistic),
    ]);
  }
  const buckets = [...byEnd.values()].sort(([a], [b]) => a - b);
  return { ...one, ...other, buckets, backOff: laterBackOff(one.backOff, other.backOff) };
}

function laterBackOff(one: BackOff, other: BackOff): BackOff {
  return one.untilMs >= other.untilMs ? one : other;
}

function shiftBackOff(backOff: BackOff, aheadMs: number): BackOff {
  const { refusedAtMs, untilMs, namedMs } = backOff;
  return {
    ...backOff,
    refusedAtMs: refusedAtMs + aheadMs,
    untilMs: untilMs + aheadMs,
    namedMs: namedMs === null ? null : namedMs + aheadMs,
  };
}

function mergeRecords<V>(
  one: Readonly<Record<string, V>>,
  other: Readonly<Record<string, V>>,
  merge: (a: V, b: V) => V,
): Readonly<Record<string, V>> {
  const both = mapRecord(other, (value, key) => {
    // A name may be that of a property which every object has.
    const known = Object.hasOwn(one, key) ? one[key] : undefined;
    return known === undefined ? value : merge(known, value);
  });
  return { ...one, ...both };
}

function mapRecord<V>(
  record: Readonly<Record<string, V>>,
  change: (value: V, key: string) => V,
): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
