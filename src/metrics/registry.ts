import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import { headText, sampleLine } from "./exposition.ts";
import { METRIC_FAMILIES } from "./families.ts";

export interface Prometheus {
  readonly contentType: string;
  /**
   * The text in pieces. Each takes less than a millisecond and is made when the caller asks for it, so that the event loop turns
   * in between. OpenMetrics is not offered: one request for it makes prom-client break `_total` in later scrapes.
   */
  readonly render: (source: MetricsSource) => AsyncIterable<string>;
}

/** The metric of the build, and the useful default metrics of prom-client that `promtool check metrics` accepts. */
const SHOWN_METRICS = [
  "synclag_build_info",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_heap_size_used_bytes",
  "nodejs_heap_size_total_bytes",
];

/** prom-client measures the event loop by a timer. Its default of 10 ms took a sixth of the CPU time of a small fleet. */
const EVENT_LOOP_TIMER_MS = 1_000;

/** The size of a piece: about 500 lines. */
const PIECE_CHARS = 65_536;

/**
 * The text of `/metrics`. prom-client keeps only the metrics of the build and the process. The samples of our families are read
 * at each scrape, so that the series of removed targets disappear (docs/decisions/0005-text-of-metrics.md).
 */
export function createPrometheus(build: {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}): Prometheus {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_TIMER_MS });
  new Gauge({
    name: "synclag_build_info",
    help: "1; the version, revision and Node version of this build",
    labelNames: ["version", "revision", "node_version"],
    registers: [registry],
  }).set({ version: build.version, revision: build.revision, node_version: build.nodeVersion }, 1);
  // The metrics of file descriptors exist on Linux only.
  const shown = SHOWN_METRICS.filter((name) => registry.getSingleMetric(name) !== undefined);

  return {
    contentType: registry.contentType,
    async *render(source) {
      let piece = "";
      for (const family of METRIC_FAMILIES) {
        piece += headText(family);
        for (const sample of family.samples(source)) {
          piece += sampleLine(family.name, sample);
          if (piece.length >= PIECE_CHARS) {
            yield piece;
            piece = "";
          }
        }
      }
      // All metrics are collected, because collecting one may set another that is shown.
      await registry.getMetricsAsJSON();
      const texts = await Promise.all(shown.map((name) => registry.getSingleMetricAsString(name)));
      yield `${piece}${texts.join("\n")}\n`;
    },
  };
}
