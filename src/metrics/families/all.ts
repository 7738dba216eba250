import { DAEMON_METRICS } from "./daemon.ts";
import type { MetricFamily } from "./family.ts";
import { PARITY_COUNTERS } from "./parity.ts";
import { STATUS_METRICS } from "./status.ts";

/** Every metric whose samples are read at a scrape. Those that prom-client keeps itself are in `registry.ts`. */
export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...STATUS_METRICS,
  ...DAEMON_METRICS,
  ...PARITY_COUNTERS,
];
