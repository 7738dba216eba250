import type { AlertContext } from "./alert.ts";
import { PAIR, TARGET } from "./promql.ts";

/** A group of recording rules, evaluated together. */
export interface RecordingGroup {
  readonly name: string;
  readonly interval: string;
  readonly recordings: readonly { readonly record: string; readonly expr: string }[];
}

const SHORT_WINDOWS = ["5m", "30m", "1h", "6h"] as const;
const LONG_WINDOWS = ["3d", "30d"] as const;

/** Windows over which freshness is recorded. */
export type FreshnessWindow = (typeof SHORT_WINDOWS)[number] | (typeof LONG_WINDOWS)[number];

/** The recorded freshness of protocols over a window, such as `synclag:protocol_fresh:ratio_1h`. */
export function protocolFreshness(window: FreshnessWindow): string {
  return `synclag:protocol_fresh:ratio_${window}`;
}

/** The recorded freshness of the fleet. */
export const FLEET_FRESHNESS = "synclag:fleet_fresh:ratio_30d";

/**
 * The freshness of the fleet, now and over time. A pair is fresh while a variant in the tier that serves its users is `ok`.
 * Targets in maintenance, on testnets, unknown, throttled or halted are left out.
 */
export function freshnessRecordings({ time }: AlertContext): readonly RecordingGroup[] {
  const over = (windows: readonly FreshnessWindow[]) =>
    windows.map((window) => ({
      record: protocolFreshness(window),
      expr: `avg_over_time(synclag:protocol_fresh:ratio[${time(window)}])`,
    }));
  return [
    { name: "synclag-freshness", interval: time("1m"), recordings: [...NOW, ...over(SHORT_WINDOWS)] },
    {
      name: "synclag-freshness-long",
      interval: time("5m"),
      recordings: [
        ...over(LONG_WINDOWS),
        { record: FLEET_FRESHNESS, expr: `avg_over_time(synclag:fleet_fresh:ratio[${time("30d")}])` },
      ],
    },
  ];
}

/** Recorded series keep these labels, so that the selector of the rules can select among them. */
const SELECTABLE = "cluster, job";
const OF_TARGET = `${SELECTABLE}, ${TARGET}`;
/** The statuses in which users of a variant see old data, wrong data or none. */
const NOT_FRESH = "rejected|not_found|unreachable|missing|failed|diverged|stalled|syncing|lagging";

const NOW = [
  {
    record: "synclag:target_fresh:bool",
    expr: `(
  max by (${OF_TARGET}) (synclag_status{testnet="false", status="ok"}) == 1
  or
  0 * (max by (${OF_TARGET}) (synclag_status{testnet="false", status=~"${NOT_FRESH}"}) == 1)
)
unless on (${OF_TARGET})
  max by (${OF_TARGET}) (synclag_maintenance) == 1`,
  },
  {
    record: "synclag:chain_fresh:bool",
    expr: `max by (${SELECTABLE}, ${PAIR}) (synclag:target_fresh:bool{tier="production"})`,
  },
  {
    record: "synclag:protocol_fresh:ratio",
    expr: `avg by (${SELECTABLE}, protocol) (synclag:chain_fresh:bool)`,
  },
  { record: "synclag:fleet_fresh:ratio", expr: `avg by (${SELECTABLE}) (synclag:chain_fresh:bool)` },
] as const;
