import type { Status } from "../../src/core/model/report.ts";
import type { AlertContext } from "./alert.ts";
import { outsideMaintenance, PAIR, perTarget, withStatus } from "./promql.ts";
import type { Settings } from "./settings.ts";
import type { TimeScale } from "./time-scale.ts";

/** A recording rule. */
interface Recording {
  readonly record: string;
  readonly expr: string;
}

/** A group of recording rules, evaluated together. */
export interface RecordingGroup {
  readonly name: string;
  readonly interval: string;
  readonly recordings: readonly Recording[];
}

/** Statuses in which users of the variant see old data or none. The others, except `ok`, count neither way. */
const NOT_FRESH: readonly Status[] = [
  "rejected",
  "not_found",
  "unreachable",
  "missing",
  "failed",
  "diverged",
  "stalled",
  "syncing",
  "lagging",
];

const SHORT_WINDOWS = ["5m", "30m", "1h", "6h"] as const;
const LONG_WINDOWS = ["3d", "30d"] as const;

/** Windows over which freshness is recorded. */
export type FreshnessWindow = (typeof SHORT_WINDOWS)[number] | (typeof LONG_WINDOWS)[number];

/** The recorded freshness of protocols over a window, such as `synclag:protocol_fresh:ratio_1h`. */
export function protocolFreshness(window: FreshnessWindow): string {
  return `synclag:protocol_fresh:ratio_${window}`;
}

export function fleetFreshness(window: FreshnessWindow): string {
  return `synclag:fleet_fresh:ratio_${window}`;
}

/**
 * Freshness of the fleet, now and over time. A protocol on a chain is fresh while one of its variants in the tier that users are
 * served from is `ok`: at most `thresholds.lagging` behind. Maintenance and unknown targets count neither way.
 */
export function freshnessRecordings({ settings, time }: AlertContext): readonly RecordingGroup[] {
  return [
    {
      name: "synclag-freshness",
      interval: time("1m"),
      recordings: [...freshNow(settings), ...over(SHORT_WINDOWS, time)],
    },
    { name: "synclag-freshness-long", interval: time("5m"), recordings: over(LONG_WINDOWS, time) },
  ];
}

function freshNow({ servingTier }: Settings): readonly Recording[] {
  return [
    {
      record: "synclag:target_fresh:bool",
      expr: outsideMaintenance(`(
  ${withStatus(["ok"])}
  or
  0 * (${withStatus(NOT_FRESH)})
)`),
    },
    {
      record: "synclag:chain_fresh:bool",
      expr: `max by (${PAIR}) (synclag:target_fresh:bool{tier="${servingTier}"})`,
    },
    { record: "synclag:protocol_fresh:ratio", expr: "avg by (protocol) (synclag:chain_fresh:bool)" },
    { record: "synclag:fleet_fresh:ratio", expr: "avg(synclag:chain_fresh:bool)" },
    {
      record: "synclag:chain_lag_seconds:min",
      expr: `min by (${PAIR}) (${perTarget(`synclag_lag_seconds{tier="${servingTier}"}`)})`,
    },
    {
      record: "synclag:protocol_lag_seconds:max",
      expr: "max by (protocol) (synclag:chain_lag_seconds:min)",
    },
  ];
}

function over(windows: readonly FreshnessWindow[], time: TimeScale): readonly Recording[] {
  return windows.flatMap((window) => [
    {
      record: protocolFreshness(window),
      expr: `avg_over_time(synclag:protocol_fresh:ratio[${time(window)}])`,
    },
    { record: fleetFreshness(window), expr: `avg_over_time(synclag:fleet_fresh:ratio[${time(window)}])` },
  ]);
}
