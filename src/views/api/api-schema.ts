import { z } from "zod";
import { EventSchema } from "../../core/events/event.ts";
import { INCIDENT_KINDS, type ReadonlyDeep } from "../../core/model/report.ts";
import { Count, Height, Seconds, TargetStatus, Text, Time } from "../../core/model/report-schema.ts";

/** The replies of the JSON API other than the report. */

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

/** The reply of `/api/v1/health/{protocol}/{chain}`, healthy or not. */
export const HealthSchema = z.object({
  generated_at: Time,
  protocol: Text,
  chain: Text,
  variant: Text.describe("The requested variant; null for any").nullable(),
  max_lag_seconds: Seconds.describe(
    "The requested limit, else the lagging threshold of the chain; null while the threshold is in blocks and the pace of the chain is unknown",
  ).nullable(),
  healthy: z.boolean(),
  judged_by: z
    .enum(["lag", "advance"])
    .describe(
      "lag: the lag decides. advance: the time of the last advance decides, because the chain has no reference and the targets report no block times",
    ),
  freshest: HealthTarget.describe(
    "The freshest variant of the tier, even if the request names another variant; null while no height is known",
  ).nullable(),
  why: Text,
  targets: z.array(HealthTarget),
});

/** The reply of `/api/v1/health/{protocol}`: the same for each of its chains. */
export const ProtocolHealthSchema = HealthSchema.pick({
  generated_at: true,
  protocol: true,
  variant: true,
  healthy: true,
  why: true,
}).extend({ chains: z.array(HealthSchema) });

const Series = z.array(z.number().nullable());

/** The reply of `/api/v1/history/{protocol}/{chain}`. */
export const HistorySchema = z.object({
  generated_at: Time,
  protocol: Text,
  chain: Text,
  chain_id: Count,
  timestamps: z
    .array(z.number())
    .describe(
      "Unix seconds; every other list has the same length. A point covers a minute or more, and shows the moment at which the targets were furthest behind",
    ),
  reference_block_number: Series,
  targets: z.array(
    z.object({
      variant: Text,
      tier: Text,
      block_number: Series,
      lag_seconds: Series,
      against: Text.describe("The variant that the gap is measured against").nullable(),
      gap_blocks: Series,
      gap_uncertainty_blocks: Series,
    }),
  ),
});

const SPAN = { generated_at: Time, from: Time, to: Time };

/** The reply of `/api/v1/events`. */
export const EventsSchema = z.object({
  ...SPAN,
  total: Count.describe("How many events match; `events` has at most `limit` of them"),
  events: z.array(EventSchema).describe("The latest first"),
});

/** The reply of `/api/v1/incidents`. */
export const IncidentsSchema = z.object({
  ...SPAN,
  total: Count,
  incidents: z
    .array(
      z.object({
        kind: z.enum(INCIDENT_KINDS),
        scope: Text,
        subject: Text,
        since: Time,
        until: Time.describe("Null while the incident lasts").nullable(),
        duration_seconds: Seconds,
        detail: Text.nullable(),
        targets: z.array(Text).describe("Keys of the targets that the incident explained, at most 100"),
        target_count: Count,
      }),
    )
    .describe("The latest first"),
});

const Availability = z.object({
  ok_share: z
    .number()
    .describe("The share of the known time in which the state was ok, from 0 to 1; null if no state is known")
    .nullable(),
  usable_share: z
    .number()
    .describe(
      "The share of the known time in which the state was usable: for a pair ok or degraded; for a target ok, lagging or chain_halted",
    )
    .nullable(),
  longest_outage_seconds: Seconds.describe("The longest time without a usable state"),
  known_seconds: Seconds,
  periods: z
    .array(
      z.object({
        from: Time,
        to: Time,
        state: Text.describe("Null: no Synclag was running, or the subject was not polled yet").nullable(),
        since: Time,
        detail: Text.nullable(),
      }),
    )
    .describe("The past states, the latest first"),
});

/** The reply of `/api/v1/status/{protocol}/{chain}/history`. */
export const StatusHistorySchema = z.object({
  ...SPAN,
  protocol: Text,
  chain: Text,
  pair: Availability,
  targets: z.array(Availability.extend({ key: Text, variant: Text, tier: Text })),
});

/** The body of every error: problem details, RFC 9457. */
export const ProblemSchema = z.object({
  type: Text.meta({ format: "uri-reference" }),
  title: Text,
  status: z.int().min(400).max(599),
  detail: Text,
});

export type HealthJson = ReadonlyDeep<z.infer<typeof HealthSchema>>;
export type ProtocolHealthJson = ReadonlyDeep<z.infer<typeof ProtocolHealthSchema>>;
export type HealthTargetJson = HealthJson["targets"][number];
export type HistoryJson = ReadonlyDeep<z.infer<typeof HistorySchema>>;
