import { z } from "zod";
import { LATEST_MS } from "../core/model/observation.ts";
import type { BackOff } from "./back-off.ts";
import type { LedgerSnapshot } from "./ledger.ts";

/** The part of the state file about budgets. */
export interface SavedBudgets {
  /** By the account's id. */
  readonly accounts: ReadonlyMap<string, LedgerSnapshot>;
  /** Of endpoints without a budget, by a digest of the URL. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** When that was so, by the clock of the budgets. */
  readonly atMs: number;
}

// Unknown fields are ignored: what a later version adds must not cost the record of what was spent after a roll back to
// this one. A change of the meaning of a field raises the version of the state file.

const Time = z.number().nonnegative().max(LATEST_MS);
const Count = z.int().nonnegative();
export const BackOffJson = z.object({
  refusedAtMs: Time,
  untilMs: Time,
  namedMs: Time.nullable(),
  delayMs: Time,
  probe: z.enum(["none", "due", "sent"]),
});
const BucketJson = z
  .tuple([Time, Count, Count])
  .transform(([endMs, scheduled, opportunistic]) => ({ endMs, scheduled, opportunistic }));
export const AccountJson = z.object({
  buckets: z.array(BucketJson),
  backOff: BackOffJson,
  sentTo: z.string(),
});
const SavedBudgetsJson = z.object({
  accounts: z.record(z.string(), AccountJson),
  backOffs: z.record(z.string(), BackOffJson),
  atMs: Time,
});

/** Writes a bucket as three numbers: a ledger has dozens of them. */
export function savedBudgetsToJson({
  accounts,
  backOffs,
  atMs,
}: SavedBudgets): z.input<typeof SavedBudgetsJson> {
  const entries = [...accounts].map(([key, account]) => [key, accountToJson(account)] as const);
  return { accounts: Object.fromEntries(entries), backOffs: Object.fromEntries(backOffs), atMs };
}

/** @throws {z.ZodError} If the JSON is not what `savedBudgetsToJson` writes. */
export function readSavedBudgets(json: unknown): SavedBudgets {
  const { accounts, backOffs, atMs } = SavedBudgetsJson.parse(json);
  return { atMs, accounts: new Map(Object.entries(accounts)), backOffs: new Map(Object.entries(backOffs)) };
}

/** Merges two records of the same spending, in either order: counts only grow, so the higher one is right. */
export function mergeSavedBudgets(one: SavedBudgets, other: SavedBudgets): SavedBudgets {
  return {
    accounts: mergeMaps(one.accounts, other.accounts, mergeAccounts),
    backOffs: mergeMaps(one.backOffs, other.backOffs, laterBackOff),
    atMs: Math.max(one.atMs, other.atMs),
  };
}

/** Moves all times forward by `aheadMs`. */
export function shiftSavedBudgets(saved: SavedBudgets, aheadMs: number): SavedBudgets {
  if (aheadMs === 0) {
    return saved;
  }
  const { accounts, backOffs, atMs } = saved;
  return {
    accounts: mapValues(accounts, ({ buckets, backOff, ...account }) => ({
      ...account,
      buckets: buckets.map((bucket) => ({ ...bucket, endMs: bucket.endMs + aheadMs })),
      backOff: shiftBackOff(backOff, aheadMs),
    })),
    backOffs: mapValues(backOffs, (backOff) => shiftBackOff(backOff, aheadMs)),
    atMs: atMs + aheadMs,
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
    ...one,
    ...other,
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

function accountToJson({ buckets, backOff, sentTo }: LedgerSnapshot): z.input<typeof AccountJson> {
  return {
    buckets: buckets.map(({ endMs, scheduled, opportunistic }) => [endMs, scheduled, opportunistic]),
    backOff,
    sentTo,
  };
}
