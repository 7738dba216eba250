import { z } from "zod";
import { FAILURE_REASONS } from "../../core/model/observation.ts";
import { STATUSES } from "../../core/model/report.ts";

/**
 * The JSON API: what the routes answer, what `/openapi.json` describes and what `synclag check --url` accepts all follow
 * from these schemas. Every property is present; what is unknown is null.
 *
 * `check` may ask a daemon of another version: it accepts any word where there is a list of words (`oneOf`), properties that it
 * does not know, and the absence of those with a default here.
 */

const Text = z.string();
const Time = z.iso.datetime();
const Height = z.int().positive();
const Count = z.int().nonnegative();
const Seconds = z.number();

/** One of these words, or of those that another version has. */
function oneOf(words: readonly string[]): z.ZodString {
  return z.string().meta({ enum: words });
}

const TargetStatus = oneOf(STATUSES).meta({ description: "The first of these that applies, in this order" });

/** What a target, or a gap between two, is identified by. */
const TARGET_LABELS = {
  protocol: Text,
  variant: Text,
  tier: Text,
  chain: Text.meta({ description: "The slug of the chain" }),
  chain_id: Count,
};

const Target = z.object({
  ...TARGET_LABELS,
  status: TargetStatus,
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
  last_success: Time.nullable().default(null),
  last_advance: Time.nullable().default(null),
  maintenance: z
    .boolean()
    .meta({
      description: "Inside a maintenance window; the status is determined as usual",
    })
    .default(false),
  detail: Text.meta({ description: "One sentence that explains the status" }),
  explorer: z.url().nullable().default(null),
});

const Chain = z.object({
  slug: Text,
  chain_id: Count,
  name: Text,
  testnet: z.boolean().default(false),
  block_time_seconds: Seconds.meta({ description: "As configured" }).nullable().default(null),
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
      time: Time.nullable().default(null),
    })
    .nullable()
    .default(null),
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

const Parity = z.object({
  ...TARGET_LABELS,
  probe: Text,
  against: Text.meta({ description: "The variant it is compared with" }),
  result: oneOf(["equal", "different", "unknown"]),
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
  detail: Text.meta({ description: "One sentence that explains the result" }),
});

const Incident = z.object({
  scope: oneOf(["network", "host", "endpoint", "chain"]),
  subject: Text,
  since: Time,
  detail: Text,
  targets: z.array(Text).meta({ description: "Keys of the form protocol/variant/tier/chain" }),
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
  detail: Text.meta({
    description: "Why no requests are sent for now, and until when; else null",
  })
    .nullable()
    .default(null),
  drawn_by: z
    .array(z.object({ name: Text, requests: Count }))
    .meta({
      description:
        "Who has drawn how many of the requests that count now, most first; empty where no store is used",
    })
    .default([]),
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
export const StatusSchema = z.object({
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
});

const HealthTarget = z.object({
  variant: Text,
  tier: Text,
  status: TargetStatus,
  healthy: z.boolean(),
  block_number: Height.nullable(),
  lag_seconds: Seconds.nullable(),
  last_advance: Time.nullable(),
  why: Text,
});

/** What `/api/v1/health/{protocol}/{chain}` answers, healthy or not. */
export const HealthSchema = z.object({
  generated_at: Time,
  protocol: Text,
  chain: Text,
  variant: Text.meta({ description: "The requested variant; null for any" }).nullable(),
  max_lag_seconds: Seconds,
  healthy: z.boolean(),
  judged_by: z.enum(["lag", "advance"]).meta({
    description:
      "lag: by the lag. advance: the lag is unknown, for the chain has no reference and the targets report no block times",
  }),
  freshest: HealthTarget.meta({
    description: "Of all variants of the tier, whichever was requested; null while no height is known",
  }).nullable(),
  why: Text,
  targets: z.array(HealthTarget),
});

const Series = z.array(z.number().nullable());

/** What `/api/v1/history/{protocol}/{chain}` answers. */
export const HistorySchema = z.object({
  generated_at: Time,
  protocol: Text,
  chain: Text,
  chain_id: Count,
  timestamps: z.array(z.number()).meta({
    description:
      "Unix seconds; every other list has the same length. All values of a point are of this moment: of its minute (or longer step) the one at which the targets were furthest behind",
  }),
  reference_block_number: Series,
  targets: z.array(
    z.object({
      variant: Text,
      tier: Text,
      block_number: Series,
      lag_seconds: Series,
      against: Text.meta({ description: "The variant that the gap is measured against" }).nullable(),
      gap_blocks: Series,
      gap_uncertainty_blocks: Series,
    }),
  ),
});

/** The body of every error: problem details, RFC 9457. */
export const ProblemSchema = z.object({
  type: Text.meta({ format: "uri-reference" }),
  title: Text,
  status: z.int().min(400).max(599),
  detail: Text,
});

export type StatusJson = ReadonlyDeep<z.infer<typeof StatusSchema>>;
export type ChainJson = StatusJson["chains"][number];
export type TargetJson = StatusJson["targets"][number];
export type GapJson = StatusJson["gaps"][number];
export type ParityJson = StatusJson["parity"][number];
export type IncidentJson = StatusJson["incidents"][number];
export type BudgetJson = StatusJson["budgets"][number];
export type HealthJson = ReadonlyDeep<z.infer<typeof HealthSchema>>;
export type HealthTargetJson = HealthJson["targets"][number];
export type HistoryJson = ReadonlyDeep<z.infer<typeof HistorySchema>>;

type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> } : T;
