import { z } from "zod";
import type { ChainState } from "../../core/chain/chain-state.ts";
import type { GapMeasures } from "../../core/gap/gap.ts";
import type { Timeline } from "../../core/head/timeline.ts";
import { FAILURE_REASONS } from "../../core/model/observation.ts";
import { type Incident, STATUSES } from "../../core/model/report.ts";
import type { SourceState } from "../../core/source/source-state.ts";

// Typed by what the core remembers: what it remembers differently does not compile here until it is read so too.

const Time = z.number();
const Count = z.int().nonnegative();
const Times = { sentAtMs: Time, receivedAtMs: Time };

const SampleJson = z.strictObject({
  ...Times,
  block: Count,
  timestampSec: z.number().nullable(),
  hash: z.string().nullable(),
});

const LastPollJson = z.union([
  z.strictObject({ ...Times, kind: z.literal("head"), failure: z.string().exactOptional() }),
  z.strictObject({ ...Times, kind: z.enum(["not_started", "missing"]) }),
  z.strictObject({
    ...Times,
    kind: z.literal("failed"),
    reason: z.enum(FAILURE_REASONS),
    detail: z.string(),
  }),
]);

const GapMeasuresJson: z.ZodType<GapMeasures> = z
  .strictObject({
    lows: z.array(z.number()),
    highs: z.array(z.number()),
    newest: z.strictObject({ atMs: Time, partnerMs: Time }).nullable(),
  })
  .refine(({ lows, highs }) => lows.length === highs.length, "each low needs its high");

const SourceJson: z.ZodType<SourceState> = z.strictObject({
  key: z.string(),
  kind: z.enum(["indexer", "rpc"]),
  pollIntervalMs: z.number(),
  gap: GapMeasuresJson,
  last: LastPollJson.nullable(),
  samples: z.array(SampleJson),
  claim: z.strictObject({ sample: SampleJson, polls: Count }).nullable(),
  peak: z.strictObject({ block: Count, atMs: Time }).nullable(),
  lastSuccessMs: Time.nullable(),
  lastAdvanceMs: Time.nullable(),
  reachedTip: z.boolean(),
  stepBackPending: z.boolean(),
  regressions: z.strictObject({ reorg: Count, reindex: Count }),
  indexingErrors: z.boolean().nullable(),
  deployment: z.string().nullable(),
  deploymentChanges: Count,
  doubt: z.string().nullable(),
  hashMismatches: Count,
  verdict: z.strictObject({ status: z.enum(STATUSES), dissent: z.number() }).nullable(),
});

const ReferenceJson = z.strictObject({
  block: Count,
  reachedMs: Time,
  atMs: Time,
  slackMs: z.number(),
  sources: Count,
  freshUntilMs: Time,
  former: z.strictObject({ block: Count, atMs: Time }).nullable(),
  firm: z.boolean(),
});

const TimelineJson: z.ZodType<Timeline> = z
  .strictObject({ blocks: z.array(Count), timesMs: z.array(Time) })
  .refine(({ blocks, timesMs }) => blocks.length === timesMs.length, "each block needs its time");

const ChainStateJson: z.ZodType<ChainState> = z.strictObject({
  sources: z.array(SourceJson),
  reference: ReferenceJson.nullable(),
  clock: z.strictObject({ reported: TimelineJson, seen: TimelineJson }),
});

const IncidentsJson: z.ZodType<readonly Incident[]> = z.array(
  z.strictObject({
    scope: z.enum(["network", "host", "endpoint", "chain"]),
    subject: z.string(),
    sinceMs: Time,
    detail: z.string(),
    targets: z.array(z.string()),
  }),
);

/**
 * Reads what is remembered of one chain; its state is plain data, written as it is.
 *
 * @throws {z.ZodError} If the JSON is no such state.
 */
export function readSavedChain(json: unknown): ChainState {
  return ChainStateJson.parse(json);
}

/** @throws {z.ZodError} If the JSON is no list of incidents. */
export function readSavedIncidents(json: unknown): readonly Incident[] {
  return IncidentsJson.parse(json);
}
