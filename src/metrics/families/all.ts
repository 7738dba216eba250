import { DAEMON_METRICS } from "./daemon.ts";
import type { MetricFamily } from "./family.ts";
import { FLEET_METRICS } from "./fleet.ts";
import { TARGET_METRICS } from "./target.ts";

/** Every metric that is read at a scrape. Those kept by prom-client itself stand in the registry's own file. */
export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...TARGET_METRICS,
  ...FLEET_METRICS,
  ...DAEMON_METRICS,
];
