import { z } from "zod";
import { FAILURE_REASONS } from "./observation.ts";
import { INCIDENT_SCOPES, STATUSES } from "./report.ts";

/**
 * The report: everything known at one instant. This schema is its only definition: the core makes it, every view reads it,
 * `/api/v1/status` sends it as it is, and `/openapi.json` describes it. Every property is present; what is unknown is null, never 0.
 *
 * `synclag check --url` may ask a daemon of another version: it accepts any word where there is a list of words (`oneOf`), properties
 * that it does not know, and the absence of those with a default here.
 */

export const Text = z.string();
export const Time = z.iso.datetime();
export const Height = z.int().positive();
export const Count = z.int().nonnegative();
export const Seconds = z.number();
const Link = z.url().nullable().default(null);

/** One of these words, or a word of another version. */
function oneOf<Word extends string>(words: readonly Word[]): z.ZodType<Word> {
  // Views present a word of another version as it is.
  return z.string().meta({ enum: words }) as unknown as z.ZodType<Word>;
}

export const TargetStatus = oneOf(STATUSES).meta({
  description: "The first of these that applies, in this order",
});

/** What a target, or a comparison of two, is identified by. */
const TARGET_LABELS = {
  key: Text.meta({ description: "protocol/variant/tier/chain, unique in a fleet" }),
  protocol: Text,
  variant: Text,
  tier: Text,
  chain: Text.meta({ description: "The slug of the chain" }),
  chain_id: Count,
};

const Target = z.object({
  ...TARGET_LABELS,
  status: TargetStatus,
  since: Time.meta({ description: "Since when it has this status; null before the first" })
    .nullable()
    .default(null),
  status_changes: Count.meta({ description: "How often a poll changed the status" }).default(0),
  reason: oneOf(FAILURE_REASONS).meta({ description: "Why the last poll failed" }).nullable().default(null),
  up: z.boolean().meta({ description: "Whether the last poll returned a usable height" }).default(false),
  block_number: Height.meta({ description: "Null once the evidence is stale" }).nullable().default(null),
  block_timestamp: Time.nullable().default(null),
  lag_blocks: Count.nullable().default(null),
  lag_seconds: Seconds.nonnegative()
    .meta({
      description:
        "Chain time between the target's block and the reference; where the chain has no reference, by the clock: the age of the target's block, less the usual time between blocks",
    })
    .nullable()
    .default(null),
  lag_extrapolated: z
    .boolean()
    .meta({
      description:
        "lag_seconds is an estimate: the target's block is older than the observed history of the chain",
    })
    .default(false),
  catch_up: z
    .object({
      blocks_per_second: z
        .number()
        .meta({ description: "By how much it comes nearer to the head; negative: it falls further behind" }),
      eta_seconds: Seconds.nonnegative().nullable().meta({
        description: "How long until it is at the head, at the pace of the last ten minutes; null: never",
      }),
    })
    .meta({ description: "Of a target that is lagging or syncing, after some minutes; else null" })
    .nullable()
    .default(null),
  last_success: Time.nullable().default(null),
  last_advance: Time.nullable().default(null),
  indexing_errors: z
    .boolean()
    .meta({ description: "The indexer's own flag; false proves nothing" })
    .nullable()
    .default(null),
  deployment: Text.meta({ description: "The deployment that answered last" }).nullable().default(null),
  deployment_changes: Count.default(0),
  regressions: z
    .object({ reorg: Count, reindex: Count })
    .meta({ description: "Steps backward of the height, each counted once" })
    .default({ reorg: 0, reindex: 0 }),
  preferred: z
    .boolean()
    .meta({ description: "The freshest healthy target of its protocol and chain" })
    .default(false),
  maintenance: z
    .boolean()
    .meta({ description: "Inside a maintenance window; the status is determined as usual" })
    .default(false),
  detail: Text.meta({ description: "One sentence that explains the status" }),
  explorer: Link,
  playground: Link,
});

const Standing = z.object({
  source: Text,
  host: Text.meta({ description: "Its provider" }).nullable(),
  block_number: Height.meta({ description: "Null of a node of another chain" }).nullable(),
  stands: oneOf(["agrees", "apart", "excluded", "disputed", "rejected"]).meta({
    description:
      "apart: neither level with the reference nor in contradiction to it, for example because it lags; rejected: a node of another chain, which has no vote",
  }),
  detail: Text.meta({
    description:
      "Why it is excluded or rejected, or on which side it stands where nothing is decided; else null",
  }).nullable(),
});

const Chain = z.object({
  slug: Text,
  chain_id: Count,
  name: Text,
  testnet: z.boolean().default(false),
  explorer: Link.default(null),
  block_time_seconds: Seconds.meta({ description: "As expected" }).nullable().default(null),
  block_interval_seconds: Seconds.meta({ description: "As measured" }).nullable().default(null),
  reference: z
    .object({
      block_number: Height,
      sources: Count.meta({ description: "How many sources agree with it" }),
      members: z.array(Text).meta({
        description:
          "Keys of these sources: protocol/variant/tier/chain, or rpc/chain/host/digest of the URL",
      }),
      opposed: z.array(
        z.object({
          source: Text,
          detail: Text.meta({ description: "What it claims, and whom that contradicts" }),
        }),
      ),
      time: Time.meta({ description: "The chain clock's time of that block" }).nullable().default(null),
    })
    .nullable()
    .default(null),
  dispute: Text.meta({
    description:
      "Who contradicts whom where there is no reference for that reason, and what would decide it; else null",
  })
    .nullable()
    .default(null),
  standings: z
    .array(Standing)
    .meta({ description: "Where every source stands that has said something lately, RPC nodes included" })
    .default([]),
  thresholds: z.object({ lagging_seconds: Seconds, critical_seconds: Seconds, stalled_seconds: Seconds }),
});

const Gap = z.object({
  ...TARGET_LABELS,
  against: Text.meta({ description: "The variant it is compared with" }),
  blocks: z.number().meta({
    description: "Positive: behind `against`; the true gap lies within ± uncertainty_blocks",
  }),
  seconds: Seconds.nullable().default(null),
  uncertainty_blocks: z.number().nonnegative(),
});

/** The last value of a target, with the height of the same reply. */
const LatestValue = z.object({ block_number: Height, value: Text, read: Time }).nullable().default(null);

const Parity = z.object({
  ...TARGET_LABELS,
  probe: Text,
  against: Text.meta({ description: "The variant it is compared with" }),
  against_key: Text,
  result: oneOf(["equal", "different", "unknown"]).meta({
    description: "unknown: not compared yet, or the comparison is stale",
  }),
  block: Height.meta({ description: "The height at which the result was found" }).nullable().default(null),
  value: Text.nullable().default(null),
  against_value: Text.nullable().default(null),
  difference: z
    .number()
    .meta({ description: "against_value minus value, where both are numbers" })
    .nullable()
    .default(null),
  since: Time.meta({ description: "Since when the result holds" }).nullable().default(null),
  last_comparison: Time.nullable().default(null),
  odd: Text.meta({
    description:
      "The variant that differs from others which are equal; null where nothing shows which is wrong",
  })
    .nullable()
    .default(null),
  odd_key: Text.nullable().default(null),
  latest: LatestValue,
  against_latest: LatestValue,
  detail: Text.meta({ description: "One sentence that explains the result" }),
});

const Incident = z.object({
  scope: oneOf(INCIDENT_SCOPES),
  subject: Text,
  since: Time,
  detail: Text,
  targets: z.array(Text).meta({ description: "Keys of the targets that it explains" }),
});

const Budget = z.object({
  budget: Text,
  endpoint: Text.meta({
    description:
      "protocol/variant/tier/name, or rpc/chain/host/digest of the URL for an RPC node; null for a budget shared by several endpoints",
  })
    .nullable()
    .default(null),
  per: oneOf(["hour", "day", "month"]),
  limit: Count,
  used: Count,
  remaining: Count,
  detail: Text.meta({ description: "Why no requests are sent for now, and until when; else null" })
    .nullable()
    .default(null),
});

const Replica = z.object({
  role: oneOf(["leader", "standby", "cut_off", "unsure"]).meta({
    description:
      "cut_off: it led last, and the store is away. unsure: its lease has expired, and the store has not answered since",
  }),
  name: Text,
  leader: Text.meta({ description: "Null where no replica leads" }).nullable().default(null),
  age_seconds: Seconds.nonnegative()
    .meta({ description: "How old the leader's state is that this is made of; null before the first" })
    .nullable()
    .default(null),
});

/** What `/api/v1/status` answers, and what `synclag check --format json` prints. */
export const ReportSchema = z.object({
  generated_at: Time,
  replica: Replica.meta({
    description: "Which of several processes that share a store answers; null without a store",
  })
    .nullable()
    .default(null),
  chains: z.array(Chain),
  targets: z.array(Target),
  gaps: z.array(Gap).default([]),
  parity: z
    .array(Parity)
    .meta({
      description: "Whether variants have the same data; empty where chains.yaml configures no parity",
    })
    .default([]),
  incidents: z.array(Incident).default([]),
  budgets: z.array(Budget).default([]),
  skipped: z.array(z.object({ protocol: Text, variant: Text, tier: Text, why: Text })).default([]),
  unlisted: z
    .array(z.object({ endpoint: Text, chain_ids: z.array(Count) }))
    .meta({
      description:
        "Endpoints whose last reply named chains, with the ids of those that chains.yaml does not list for them",
    })
    .default([]),
});
