import { z } from "zod";
import type { GapMeasures } from "../../core/gap/gap.ts";
import { NEW_CLOCK } from "../../core/head/chain-clock.ts";
import type { ChainState } from "../../core/head/chain-state.ts";
import { type Consensus, NO_CONSENSUS } from "../../core/head/consensus.ts";
import type { Timeline } from "../../core/head/timeline.ts";
import { FAILURE_REASONS, LATEST_MS } from "../../core/model/observation.ts";
import { type Incident, STATUSES } from "../../core/model/report.ts";
import type { SourceState } from "../../core/source/source-state.ts";
import { Block, Count, Span, Time } from "./saved-number.ts";
import { ParityStateJson } from "./saved-parity.ts";

// Typed by the core's own state: a change there does not compile until it is read here too.

const Times = { sentAtMs: Time, receivedAtMs: Time };

const SampleJson = z.strictObject({
  ...Times,
  block: Block,
  timestampSec: z
    .number()
    .positive()
    .max(LATEST_MS / 1_000)
    .nullable(),
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

/** In blocks, and parts of one. */
const Gap = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

const GapMeasuresJson: z.ZodType<GapMeasures> = z
  .strictObject({
    lows: z.array(Gap),
    highs: z.array(Gap),
    newest: z.strictObject({ atMs: Time, partnerMs: Time }).nullable(),
  })
  .refine(
    ({ lows, highs }) => lows.length === highs.length && lows.every((low, at) => low <= (highs[at] ?? low)),
    "each low needs its high",
  );

const PeakJson = z.strictObject({ block: Block, atMs: Time }).nullable();

const SourceJson: z.ZodType<SourceState> = z.strictObject({
  key: z.string(),
  kind: z.enum(["indexer", "rpc"]),
  pollIntervalMs: Span,
  gap: GapMeasuresJson,
  last: LastPollJson.nullable(),
  samples: z.array(SampleJson),
  beforeJump: z.strictObject({ samples: z.array(SampleJson), peak: PeakJson }).nullable(),
  replicas: z
    .strictObject({
      answers: z.string().regex(/^[hl]*$/u),
      highBlock: Count,
      low: z.array(SampleJson),
      disagree: z.boolean(),
      isStale: z.boolean(),
    })
    .nullable()
    .default(null),
  peak: PeakJson,
  lastSuccessMs: Time.nullable(),
  lastAdvanceMs: Time.nullable(),
  reachedTip: z.boolean(),
  stepBackPending: z.boolean(),
  regressions: z.strictObject({ reorg: Count, reindex: Count }),
  indexingErrors: z.boolean().nullable(),
  deployment: z.string().nullable(),
  deploymentChanges: Count,
  verdict: z.strictObject({ status: z.enum(STATUSES), dissent: Count }).nullable(),
});

const ConsensusJson: z.ZodType<Consensus> = z.strictObject({
  head: z
    .strictObject({ block: Block, reachedMs: Time, atMs: Time, slackMs: Span, freshUntilMs: Time })
    .nullable(),
  members: z.array(z.string()),
  opposed: z.array(
    z.strictObject({
      source: z.string(),
      kind: z.enum(["hash", "times", "ahead", "below"]),
      by: z.array(z.string()),
      block: Block,
      blocks: z.int(),
      offMs: z.number().min(-LATEST_MS).max(LATEST_MS).nullable(),
    }),
  ),
  undecided: z.array(z.array(z.string())),
  track: z
    .strictObject({
      block: Block,
      atMs: Time,
      intervalMs: Span.nullable(),
      members: z.array(z.string()),
    })
    .nullable(),
});

const TimelineJson: z.ZodType<Timeline> = z
  .strictObject({ blocks: z.array(Block), timesMs: z.array(Time) })
  .refine(({ blocks, timesMs }) => blocks.length === timesMs.length, "each block needs its time");

const ChainStateJson: z.ZodType<ChainState> = z
  .strictObject({
    sources: z.array(SourceJson),
    consensus: ConsensusJson,
    clock: z.strictObject({ reported: TimelineJson, seen: TimelineJson }),
    sentTo: z.record(z.string(), z.string()).exactOptional(),
    parity: ParityStateJson.exactOptional(),
  })
  .refine(
    ({ clock, consensus: { head } }) =>
      head === null || head.block <= (clock.seen.blocks.at(-1) ?? head.block),
    "the clock must have seen the head",
  );

const IncidentsJson: z.ZodType<readonly Incident[]> = z.array(
  z.strictObject({
    scope: z.enum(["network", "host", "endpoint", "chain"]),
    subject: z.string(),
    sinceMs: Time,
    detail: z.string(),
    targets: z.array(z.string()),
  }),
);

/** Version 0.1.0 remembered the head, and jumps, by another rule. */
const ChainStateJson010 = z.object({
  reference: z.unknown(),
  sources: z.array(z.record(z.string(), z.unknown())),
});
const FIELDS_OF_010: ReadonlySet<string> = new Set(["claim", "doubt", "hashMismatches"]);

/**
 * Reads the state of one chain, which is plain data and written as it is.
 *
 * @throws {z.ZodError} If the JSON is no such state.
 */
export function readSavedChain(json: unknown): ChainState {
  const old = ChainStateJson010.safeParse(json);
  return ChainStateJson.parse(old.success && old.data.reference !== undefined ? upgraded(old.data) : json);
}

/** Keeps what 0.1.0 knew of each source; the head is worked out anew from what they say next. */
function upgraded({ sources }: z.infer<typeof ChainStateJson010>): unknown {
  const kept = sources.map((source) => ({
    ...Object.fromEntries(Object.entries(source).filter(([field]) => !FIELDS_OF_010.has(field))),
    beforeJump: null,
  }));
  return { sources: kept, consensus: NO_CONSENSUS, clock: NEW_CLOCK };
}

/** @throws {z.ZodError} If the JSON is no list of incidents. */
export function readSavedIncidents(json: unknown): readonly Incident[] {
  return IncidentsJson.parse(json);
}
