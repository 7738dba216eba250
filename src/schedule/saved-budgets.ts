import { z } from "zod";
import type { BackOff } from "./back-off.ts";
import type { Account } from "./budget.ts";

/** What the state file holds of the budgets. */
export interface SavedBudgets {
  /** By the budget's name, for one of scope `endpoint` with the endpoint's key. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** Of endpoints without a budget, by their keys. */
  readonly backOffs: ReadonlyMap<string, BackOff>;
}

const Count = z.int().nonnegative();
const BackOffJson = z.strictObject({ untilMs: z.number().nonnegative(), delayMs: z.number().nonnegative() });
const BucketJson = z
  .tuple([z.number().nonnegative(), Count, Count])
  .transform(([endMs, polls, spares]) => ({ endMs, polls, spares }));
const AccountJson = z.strictObject({ buckets: z.array(BucketJson), backOff: BackOffJson });
const SavedBudgetsJson = z.strictObject({
  accounts: z.record(z.string(), AccountJson),
  backOffs: z.record(z.string(), BackOffJson),
});

/** Says the budgets as JSON, a bucket in three numbers: a ledger has dozens of them. */
export function savedBudgetsToJson({ accounts, backOffs }: SavedBudgets): z.input<typeof SavedBudgetsJson> {
  const entries = [...accounts].map(([key, account]) => [key, accountToJson(account)] as const);
  return { accounts: Object.fromEntries(entries), backOffs: Object.fromEntries(backOffs) };
}

/**
 * Reads them back.
 *
 * @throws {z.ZodError} If the JSON is not what `savedBudgetsToJson` writes.
 */
export function readSavedBudgets(json: unknown): SavedBudgets {
  const { accounts, backOffs } = SavedBudgetsJson.parse(json);
  return { accounts: new Map(Object.entries(accounts)), backOffs: new Map(Object.entries(backOffs)) };
}

function accountToJson({ buckets, backOff }: Account): z.input<typeof AccountJson> {
  return { buckets: buckets.map(({ endMs, polls, spares }) => [endMs, polls, spares]), backOff };
}
