import { z } from "zod";
import type { BackOff } from "./back-off.ts";
import type { LedgerSnapshot } from "./ledger.ts";

/** The part of the state file about budgets. */
export interface SavedBudgets {
  /** By the account's id. */
  readonly accounts: ReadonlyMap<string, LedgerSnapshot>;
  /** Of endpoints without a budget, by their keys. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
}

const Count = z.int().nonnegative();
/** Version 0.1.0 wrote neither `namedMs` nor `probe`. */
const BackOffJson = z
  .strictObject({
    refusedAtMs: z.number().nonnegative(),
    untilMs: z.number().nonnegative(),
    namedMs: z.number().nullable().default(null),
    delayMs: z.number().nonnegative(),
    probe: z.enum(["none", "due", "sent"]).optional(),
  })
  .transform(({ probe, ...backOff }) => ({
    ...backOff,
    probe: probe ?? (backOff.untilMs > 0 ? "due" : "none"),
  }));
const BucketJson = z
  .tuple([z.number().nonnegative(), Count, Count])
  .transform(([endMs, scheduled, opportunistic]) => ({ endMs, scheduled, opportunistic }));
const AccountJson = z.strictObject({ buckets: z.array(BucketJson), backOff: BackOffJson });
const SavedBudgetsJson = z.strictObject({
  accounts: z.record(z.string(), AccountJson),
  backOffs: z.record(z.string(), BackOffJson),
});

/** Writes a bucket as three numbers: a ledger has dozens of them. */
export function savedBudgetsToJson({ accounts, backOffs }: SavedBudgets): z.input<typeof SavedBudgetsJson> {
  const entries = [...accounts].map(([key, account]) => [key, accountToJson(account)] as const);
  return { accounts: Object.fromEntries(entries), backOffs: Object.fromEntries(backOffs) };
}

/** @throws {z.ZodError} If the JSON is not what `savedBudgetsToJson` writes. */
export function readSavedBudgets(json: unknown): SavedBudgets {
  const { accounts, backOffs } = SavedBudgetsJson.parse(json);
  return { accounts: new Map(Object.entries(accounts)), backOffs: new Map(Object.entries(backOffs)) };
}

/** Merges two records of the same spending, in either order: counts only grow, so the higher one is right. */
export function mergeSavedBudgets(one: SavedBudgets, other: SavedBudgets): SavedBudgets {
  return {
    accounts: mergeMaps(one.accounts, other.accounts, mergeAccounts),
    backOffs: mergeMaps(one.backOffs, other.backOffs, laterBackOff),
  };
}

/** Moves all times forward by `aheadMs`. */
export function shiftSavedBudgets(saved: SavedBudgets, aheadMs: number): SavedBudgets {
  if (aheadMs === 0) {
    return saved;
  }
  const { accounts, backOffs } = saved;
  return {
    accounts: mapValues(accounts, ({ buckets, backOff }) => ({
      buckets: buckets.map((bucket) => ({ ...bucket, endMs: bucket.endMs + aheadMs })),
      backOff: shiftBackOff(backOff, aheadMs),
    })),
    backOffs: mapValues(backOffs, (backOff) => shiftBackOff(backOff, aheadMs)),
  };
}

function mergeAccounts(one: LedgerSnapshot, other: LedgerSnapshot): LedgerSnapshot {
  const byEnd = new Map(one.buckets.map((bucket) => [bucket.endMs, bucket]));
  for (const { endMs, scheduled, opportunistic } of other.buckets) {
    const known = byEnd.get(endMs);
    byEnd.set(endMs, {
      endMs,
      scheduled: Math.max(scheduled, known?.scheduled ?? 0),
      opportunistic: Math.max(opportunistic, known?.opportunistic ?? 0),
    });
  }
  return {
    buckets: [...byEnd.values()].sort((a, b) => a.endMs - b.endMs),
    backOff: laterBackOff(one.backOff, other.backOff),
  };
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

function mergeMaps<V>(
  one: ReadonlyMap<string, V>,
  other: ReadonlyMap<string, V>,
  merge: (a: V, b: V) => V,
): ReadonlyMap<string, V> {
  const merged = new Map(one);
  for (const [key, value] of other) {
    const known = merged.get(key);
    merged.set(key, known === undefined ? value : merge(known, value));
  }
  return merged;
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): ReadonlyMap<string, V> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

function accountToJson({ buckets, backOff }: LedgerSnapshot): z.input<typeof AccountJson> {
  return {
    buckets: buckets.map(({ endMs, scheduled, opportunistic }) => [endMs, scheduled, opportunistic]),
    backOff,
  };
}
