import { POLLING_METRICS, PROCESS_METRICS } from "./daemon.ts";
import type { MetricFamily } from "./family.ts";
import { PARITY_COUNTERS } from "./parity.ts";
import { STATUS_METRICS } from "./status.ts";

/** The metrics that speak of the fleet: a replica that does not poll leaves them out. */
const FLEET_METRICS: readonly MetricFamily[] = [...STATUS_METRICS, ...POLLING_METRICS, ...PARITY_COUNTERS];

/** Every metric whose samples are read at a scrape. Those that prom-client keeps itself are in `registry.ts`. */
export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...FLEET_METRICS.map(ofPollingReplica),
  ...PROCESS_METRICS,
];

function ofPollingReplica(family: MetricFamily): MetricFamily {
  return {
    ...family,
    samples: (source) => (source.replica?.isPolling === false ? [] : family.samples(source)),
  };
}
