import { z } from "zod";
import type { ReadonlyDeep } from "../../core/model/report.ts";
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

/** What `/api/v1/health/{protocol}` answers: as of each of its chains. */
export const ProtocolHealthSchema = HealthSchema.pick({
  generated_at: true,
  protocol: true,
  variant: true,
  healthy: true,
  why: true,
}).extend({ chains: z.array(HealthSchema) });

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

export type HealthJson = ReadonlyDeep<z.infer<typeof HealthSchema>>;
export type ProtocolHealthJson = ReadonlyDeep<z.infer<typeof ProtocolHealthSchema>>;
export type HealthTargetJson = HealthJson["targets"][number];
export type HistoryJson = ReadonlyDeep<z.infer<typeof HistorySchema>>;
