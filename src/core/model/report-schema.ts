import { z } from "zod";
import { FAILURE_REASONS } from "./observation.ts";
import { INCIDENT_KINDS, INCIDENT_SCOPES, SEVERITIES } from "./report.ts";
import { STATUSES } from "./statuses.ts";

/**
 * The report: everything known at one instant. This schema is its only definition: the core makes it, every view reads it,
 * `/api/v1/status` sends it as it is, and `/openapi.json` describes it. Every property is present; what is unknown is null,
 * never 0.
 *
 * `synclag check --url` may ask a daemon of another version. So it accepts unknown words in a list (`oneOf`), unknown properties,
 * and the absence of properties that have a default here.
 */

export const Text = z.string();
export const Time = z.iso.datetime();
export const Height = z.int().positive();
export const Count = z.int().nonnegative();
export const Seconds = z.number();
const Flag = z.boolean();
const Link = orNull(z.url());

/** Null if the value is unknown, or if a daemon of an older version lacks the property. */
export function orNull<Schema extends z.ZodType>(schema: Schema, description?: string) {
  return (description === undefined ? schema : schema.describe(description)).nullable().default(null);
}

/** One of these words, or a word of another version. */
function oneOf<Word extends string>(words: readonly Word[], description?: string): z.ZodType<Word> {
  const meta = description === undefined ? { enum: words } : { description, enum: words };
  // Views present a word of another version as it is.
  return z.string().meta(meta) as unknown as z.ZodType<Word>;
}

export const TargetStatus = oneOf(STATUSES, "The first of these that applies, in this order");

/** The labels that identify a target, or a comparison of two targets. */
const TARGET_LABELS = {
  key: Text.describe("protocol/variant/tier/chain, unique in a fleet"),
  protocol: Text,
  variant: Text,
  tier: Text,
  chain: Text.describe("The slug of the chain"),
  chain_id: Count,
};

const Thresholds = z.object({
  lagging_seconds: orNull(
    Seconds,
    "A limit in blocks is converted at the chain's pace; null while the pace is unknown",
  ),
  lagging_blocks: orNull(Count, "As configured; null if a time is configured"),
  critical_seconds: orNull(Seconds),
  critical_blocks: orNull(Count),
  stalled_seconds: Seconds,
});

const Query = z.object({
  probe: Text,
  result: oneOf(
    ["ok", "failing", "unknown"],
    "ok: the last reply was as expected; failing: at least two replies in a row were not; unknown: not sent yet, or failed once",
  ),
  since: orNull(Time, "When the present successes or failures began"),
  last: orNull(Time, "When it was last sent"),
  latency_seconds: orNull(Seconds.nonnegative(), "How long that request took"),
  detail: orNull(Text, "Why the last reply was not as expected; else null"),
});

const Target = z.object({
  ...TARGET_LABELS,
  status: TargetStatus,
  since: orNull(Time, "When this status began; null: unknown"),
  unconfirmed: orNull(
    oneOf(STATUSES, "The status that the last poll indicates, if another poll has to confirm it; else null"),
  ),
  status_changes: Count.describe("How often a poll changed the status").default(0),
  reason: orNull(
    oneOf(FAILURE_REASONS, "Why the last poll failed; query: it had a height, but a probe failed"),
  ),
  up: Flag.describe("Whether the last poll returned a usable height").default(false),
  block_number: orNull(Height, "Null once the evidence is stale"),
  block_timestamp: orNull(Time),
  lag_blocks: orNull(Count),
  lag_seconds: orNull(
    Seconds.nonnegative(),
    "How long the block after the target's has existed; 0 at the reference. Without a reference, it is the age of the target's block minus the usual time between blocks",
  ),
  lag_extrapolated: Flag.describe(
    "lag_seconds is an estimate: the target's block is older than the observed history of the chain",
  ).default(false),
  catch_up: z
    .object({
      blocks_per_second: z
        .number()
        .describe("By how much it comes nearer to the head; negative: it falls further behind"),
      eta_seconds: Seconds.nonnegative()
        .nullable()
        .describe("How long until it is at the head, at the pace of the last ten minutes; null: never"),
    })
    .describe("For a target that is lagging or syncing, after some minutes; else null")
    .nullable()
    .default(null),
  last_success: orNull(Time),
  last_advance: orNull(Time),
  indexing_errors: orNull(Flag, "The indexer's own flag; false proves nothing"),
  probes: z
    .array(Query)
    .describe("The queries that chains.yaml has for this target in `probes` and `parity`")
    .default([]),
  deployment: orNull(Text, "The deployment that a reply named last"),
  deployment_changes: Count.default(0),
  regressions: z
    .object({ reorg: Count, reindex: Count })
    .describe("Steps backward of the height, each counted once")
    .default({ reorg: 0, reindex: 0 }),
  served: Flag.describe(
    "Whether it was seen at the head at any time. If so, users rely on it, and a back-fill is an outage for them",
  ).default(false),
  thresholds: Thresholds.describe("The thresholds of its indexer; null: those of its chain apply")
    .nullable()
    .default(null),
  ended: orNull(
    Text,
    "The end that the target has reached: a date or a block, as in `until` of chains.yaml; null: it has not ended",
  ),
  preferred: Flag.describe("The freshest healthy target of its protocol and chain").default(false),
  maintenance: Flag.describe(
    "Whether the target raises no alert: it is in a maintenance window, or it has ended as expected. The status is determined as usual",
  ).default(false),
  maintenance_until: orNull(Time, "When the maintenance window ends").default(null),
  detail: Text.describe("One sentence that explains the status"),
  explorer: Link,
  playground: Link,
});

const Standing = z.object({
  source: Text,
  host: Text.describe("Its provider").nullable(),
  block_number: Height.describe("Null for a node of another chain").nullable(),
  most_block: orNull(
    Height,
    "The highest possible head if this source is right; null: it sets no upper bound",
  ).default(null),
  stands: oneOf(
    ["agrees", "apart", "excluded", "disputed", "rejected"],
    "apart: neither level with the reference nor in contradiction to it, for example because it lags; rejected: a node of another chain, which has no vote",
  ),
  detail: Text.describe("Why it is excluded or rejected, or its side in a dispute; else null").nullable(),
});

const Chain = z.object({
  slug: Text,
  chain_id: Count,
  name: Text,
  testnet: z.boolean().default(false),
  explorer: Link,
  block_time_seconds: orNull(Seconds, "As expected"),
  block_interval_seconds: orNull(Seconds, "As measured"),
  reference: z
    .object({
      block_number: Height,
      sources: Count.describe("How many sources agree with it"),
      time: orNull(Time, "When the chain made that block"),
    })
    .nullable()
    .default(null),
  dispute: orNull(
    Text,
    "If there is no reference because sources contradict each other: which sources, and what would decide it; else null",
  ),
  standings: z
    .array(Standing)
    .describe("For each source with a recent reply, RPC nodes included: whether it agrees with the reference")
    .default([]),
  thresholds: Thresholds,
});

const Gap = z.object({
  ...TARGET_LABELS,
  against: Text.describe("The variant it is compared with"),
  blocks: z.number().describe("Positive: behind `against`; the true gap lies within ± uncertainty_blocks"),
  seconds: orNull(Seconds),
  uncertainty_blocks: z.number().nonnegative(),
});

/** The last value of a target, with the height of the same reply. */
const LatestValue = orNull(z.object({ block_number: Height, value: Text, read: Time }));

const Parity = z.object({
  ...TARGET_LABELS,
  probe: Text,
  against: Text.describe("The variant it is compared with"),
  against_key: Text,
  result: oneOf(
    ["equal", "different", "unknown"],
    "unknown: not compared yet, or the comparison is stale, or one of the two cannot be queried",
  ),
  block: orNull(Height, "The height at which the result was found"),
  value: orNull(Text),
  against_value: orNull(Text),
  difference: orNull(z.number(), "against_value minus value, where both are numbers"),
  since: orNull(Time, "Since when the result holds"),
  last_comparison: orNull(Time),
  odd: orNull(
    Text,
    "The variant that differs from others which are equal; null where nothing shows which is wrong",
  ),
  odd_key: orNull(Text),
  latest: LatestValue,
  against_latest: LatestValue,
  detail: Text.describe("One sentence that explains the result"),
});

const Incident = z.object({
  kind: oneOf(
    INCIDENT_KINDS,
    "cause: shared by many targets; pair: of a protocol on a chain, such as one without a usable variant; target: of one target alone",
  ).default("cause"),
  scope: oneOf(INCIDENT_SCOPES, "What the subject is"),
  subject: Text.describe(
    "`all`, a host, protocol/variant/tier, the slug of a chain, protocol/chain, or the key of a target",
  ),
  severity: oneOf(
    SEVERITIES,
    "critical: users have no usable variant; calm: all of its targets are in maintenance",
  ).default("warning"),
  since: Time,
  detail: Text,
  targets: z.array(Text).describe("Keys of the targets that it explains"),
});

const Budget = z.object({
  budget: Text,
  endpoint: orNull(
    Text,
    "protocol/variant/tier/name, or rpc/chain/host/digest of the URL for an RPC node; null for a budget shared by several endpoints",
  ),
  per: oneOf(["hour", "day", "month"]),
  limit: Count,
  used: Count,
  remaining: Count,
  detail: orNull(Text, "Why no requests are sent for now, and until when; else null"),
});

const Replica = z.object({
  role: oneOf(
    ["leader", "standby", "cut_off", "unsure"],
    "cut_off: it led last, and the store is away. unsure: its lease has expired, and the store has not replied since",
  ),
  name: Text,
  leader: orNull(Text, "Null if no replica leads"),
  age_seconds: orNull(
    Seconds.nonnegative(),
    "The age of the leader's state from which this report is made; null before the first state",
  ),
});

/** The body of `/api/v1/status`, and the output of `synclag check --format json`. */
export const ReportSchema = z.object({
  generated_at: Time,
  config_digest: orNull(Text, "A digest of what the daemon polls, without keys; null in the demo"),
  replica: Replica.describe("The replica that replies, of several that share a store; null without a store")
    .nullable()
    .default(null),
  reload_error: z
    .object({ time: Time, detail: Text })
    .describe(
      "When and why the last reload of chains.yaml failed, so that the former configuration is in use; else null",
    )
    .nullable()
    .default(null),
  chains: z.array(Chain),
  targets: z.array(Target),
  gaps: z.array(Gap).default([]),
  parity: z
    .array(Parity)
    .describe("Whether variants have the same data; empty if chains.yaml configures no parity")
    .default([]),
  incidents: z.array(Incident).default([]),
  budgets: z.array(Budget).default([]),
  skipped: z.array(z.object({ protocol: Text, variant: Text, tier: Text, why: Text })).default([]),
  unlisted: z
    .array(
      z.object({
        endpoint: Text,
        chain_ids: z.array(Count).describe("The chains that chains.yaml does not list for it"),
      }),
    )
    .describe("Endpoints whose last reply named chains")
    .default([]),
});
