import { FAILURE_REASONS } from "../../core/model/observation.ts";
import { STATUSES } from "../../core/model/report.ts";

/** A JSON Schema (2020-12), as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT = { type: "string" };
const NUMBER = { type: "number" };
const FLAG = { type: "boolean" };
const TIME = { type: "string", format: "date-time" };
const HEIGHT = { type: "integer", minimum: 1 };
const COUNT = { type: "integer", minimum: 0 };

const STATUS = { enum: STATUSES, description: "The first that matches, in this order" };

const TARGET = object({
  protocol: TEXT,
  variant: TEXT,
  tier: TEXT,
  chain: { ...TEXT, description: "The chain's slug" },
  chain_id: COUNT,
  status: STATUS,
  reason: nullable({ enum: FAILURE_REASONS, description: "Why the last poll failed" }),
  block_number: nullable({ ...HEIGHT, description: "Null once the evidence is stale" }),
  block_timestamp: nullable(TIME),
  lag_blocks: nullable(COUNT),
  lag_seconds: nullable({ ...NUMBER, minimum: 0, description: "Chain time behind the reference" }),
  lag_extrapolated: { ...FLAG, description: "lag_seconds reaches beyond what the chain clock has seen" },
  last_success: nullable(TIME),
  last_advance: nullable(TIME),
  maintenance: { ...FLAG, description: "Inside a maintenance window: judged as ever, but marked" },
  detail: { ...TEXT, description: "One sentence for people" },
  explorer: nullable({ ...TEXT, format: "uri" }),
});

const CHAIN = object({
  slug: TEXT,
  chain_id: COUNT,
  name: TEXT,
  testnet: FLAG,
  block_time_seconds: nullable({ ...NUMBER, description: "As configured" }),
  block_interval_seconds: nullable({ ...NUMBER, description: "As measured" }),
  reference: nullable(
    object({
      block_number: HEIGHT,
      sources: { ...COUNT, description: "How many sources agree with it" },
      time: nullable(TIME),
    }),
  ),
  thresholds: object({ lagging_seconds: NUMBER, critical_seconds: NUMBER, stalled_seconds: NUMBER }),
});

const GAP = object({
  protocol: TEXT,
  variant: TEXT,
  tier: TEXT,
  chain: TEXT,
  chain_id: COUNT,
  against: { ...TEXT, description: "The variant that it is compared with" },
  blocks: { ...NUMBER, description: "Positive: behind; the truth lies within ± uncertainty_blocks" },
  seconds: nullable(NUMBER),
  uncertainty_blocks: { ...NUMBER, minimum: 0 },
});

const INCIDENT = object({
  scope: { enum: ["network", "host", "endpoint", "chain"] },
  subject: TEXT,
  since: TIME,
  detail: TEXT,
  targets: { ...list(TEXT), description: "Keys of the form protocol/variant/tier/chain" },
});

const BUDGET = object({
  budget: TEXT,
  endpoint: nullable({ ...TEXT, description: "Null for a budget that many share" }),
  per: { enum: ["hour", "day", "month"] },
  limit: COUNT,
  used: COUNT,
  remaining: COUNT,
});

const HEALTH_TARGET = object({
  variant: TEXT,
  tier: TEXT,
  status: STATUS,
  healthy: FLAG,
  block_number: nullable(HEIGHT),
  lag_seconds: nullable(NUMBER),
  last_advance: nullable(TIME),
  why: TEXT,
});

/** What `/api/v1/status` answers. */
export const STATUS_SCHEMA: JsonSchema = object({
  generated_at: TIME,
  chains: list(CHAIN),
  targets: list(TARGET),
  gaps: list(GAP),
  incidents: list(INCIDENT),
  budgets: list(BUDGET),
  skipped: list(object({ protocol: TEXT, variant: TEXT, tier: TEXT, why: TEXT })),
});

/** What `/api/v1/health/{protocol}/{chain}` answers, healthy or not. */
export const HEALTH_SCHEMA: JsonSchema = object({
  generated_at: TIME,
  protocol: TEXT,
  chain: TEXT,
  variant: nullable({ ...TEXT, description: "The variant that was asked for; null for any" }),
  max_lag_seconds: NUMBER,
  healthy: FLAG,
  judged_by: { enum: ["lag", "advance"], description: "advance: no reference exists" },
  freshest: nullable(HEALTH_TARGET),
  why: TEXT,
  targets: list(HEALTH_TARGET),
});

/** A list as long as `timestamps`; null where nothing is known. */
const COLUMN = list(nullable(NUMBER));

/** What `/api/v1/history/{protocol}/{chain}` answers. */
export const HISTORY_SCHEMA: JsonSchema = object({
  generated_at: TIME,
  protocol: TEXT,
  chain: TEXT,
  chain_id: COUNT,
  timestamps: { ...list(NUMBER), description: "Unix seconds; every other list is as long" },
  reference_block_number: COLUMN,
  targets: list(
    object({
      variant: TEXT,
      tier: TEXT,
      block_number: COLUMN,
      lag_seconds: COLUMN,
      against: nullable({ ...TEXT, description: "The variant that the gap is measured against" }),
      gap_blocks: COLUMN,
      gap_uncertainty_blocks: COLUMN,
    }),
  ),
});

/** Every error's body: problem details, RFC 9457. */
export const PROBLEM_SCHEMA: JsonSchema = object({
  type: { ...TEXT, format: "uri-reference" },
  title: TEXT,
  status: { type: "integer", minimum: 400, maximum: 599 },
  detail: TEXT,
});

/** Unknown is null, never absent: every property is required. */
function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}
