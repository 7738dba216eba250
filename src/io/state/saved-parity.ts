import { z } from "zod";
import type { KnownValues } from "../../core/parity/known-values.ts";
import type { PairState } from "../../core/parity/pair-state.ts";
import type { ParityState } from "../../core/parity/parity-state.ts";
import { Block, Count, Time } from "./saved-number.ts";

// Typed by the core's own state: a change there does not compile until it is read here too.

const ValueJson = z.strictObject({ text: z.string(), isNumber: z.boolean() });

const KnownValuesJson: z.ZodType<KnownValues> = z
  .strictObject({
    probe: z.string(),
    target: z.string(),
    query: z.string(),
    deployment: z.string().nullable(),
    runs: z.array(ValueJson.extend({ from: Block, to: Block, count: z.int().positive() })),
    readings: Count,
    returnedAt: Block.nullable(),
    contradictedAt: Block.nullable(),
    lastMs: Time.nullable(),
    failure: z.string().nullable(),
  })
  .refine(({ runs }) => areAscending(runs), "the heights of runs ascend");

const PairStateJson: z.ZodType<PairState> = z
  .strictObject({
    probe: z.string(),
    target: z.string(),
    against: z.string(),
    result: z.enum(["equal", "different", "unknown"]),
    sinceMs: Time.nullable(),
    comparison: z.strictObject({ block: Block, own: ValueJson, against: ValueJson }).nullable(),
    streak: z
      .strictObject({
        firstMs: Time,
        count: z.int().positive(),
        block: Block,
        ownMs: Time,
        againstMs: Time,
        isNear: z.boolean(),
        evidence: z.enum(["read", "between"]),
      })
      .nullable(),
    last: z.strictObject({ block: Block, atMs: Time, ownMs: Time, againstMs: Time }).nullable(),
  })
  .refine(
    ({ comparison, result, sinceMs }) => (result === "unknown") === (comparison === null || sinceMs === null),
    "a result has a comparison and a time, and unknown has none",
  );

/** What is known of a chain's values, as it stands in the state file. */
export const ParityStateJson: z.ZodType<ParityState> = z.strictObject({
  sources: z.array(KnownValuesJson),
  pairs: z.array(PairStateJson),
});

function areAscending(runs: KnownValues["runs"]): boolean {
  return runs.every(({ from, to }, index) => from <= to && from > (runs[index - 1]?.to ?? -1));
}
