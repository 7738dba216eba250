import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Indexer, IndexerId } from "../core/model/fleet.ts";
import { jsonOf, memoize } from "../core/model/memoize.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import { sampleLine } from "./families/exposition.ts";
import type { MetricFamily } from "./families/family.ts";

export interface PrometheusOptions {
  readonly families: readonly MetricFamily[];
  readonly build: { readonly version: string; readonly revision: string; readonly nodeVersion: string };
}

export interface Prometheus {
  readonly contentType: string;
  /**
   * The text in pieces, each made when it is asked for: in less than a millisecond, so that the loop can turn between two.
   * Format 0.0.4 only: once asked for OpenMetrics, prom-client spoils `_total` for later scrapes.
   */
  readonly render: (source: MetricsSource) => AsyncIterable<string>;
  readonly observePoll: (labels: IndexerId, durationMs: number) => void;
  /** Drops the histogram series of indexers that a reload removed. */
  readonly retain: (indexers: readonly Indexer[]) => void;
}

/** Up to the default deadline of a poll, 10 s. */
const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Those of prom-client's default metrics that `promtool check metrics` accepts and someone would look at. */
const PROCESS_METRICS = [
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_heap_size_used_bytes",
  "nodejs_heap_size_total_bytes",
];

/** Some 500 lines. */
const PIECE_CHARS = 65_536;

/**
 * A registry of its own. The series of `families` are made anew from memory at each scrape, so that removed ones vanish;
 * prom-client keeps their names and types, and does not write them: docs/decisions/0005-text-of-metrics.md.
 */
export function createPrometheus({ families, build }: PrometheusOptions): Prometheus {
  const registry = new Registry();
  const ours = new Map(families.map((family) => [family.name, family]));
  for (const family of families) {
    announce(family, registry);
  }

  new Gauge({
    name: "synclag_build_info",
    help: "1; which build this is",
    labelNames: ["version", "revision", "node_version"],
    registers: [registry],
  }).set({ version: build.version, revision: build.revision, node_version: build.nodeVersion }, 1);

  const durations = new Histogram({
    name: "synclag_poll_duration_seconds",
    help: "Time from sending a request to the head of its answer, or to its failure",
    labelNames: ["protocol", "variant", "tier"],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const polled = new Map<string, IndexerId>();
  const labelsOf = memoize(({ protocol, variant, tier }: IndexerId) => ({ protocol, variant, tier }));

  // Some of those that are kept are filled in by one that isn't: all are collected, only the chosen are shown.
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  for (const name of PROCESS_METRICS) {
    const metric = defaults.getSingleMetric(name);
    // Those of file descriptors exist on Linux only.
    if (metric !== undefined) {
      registry.registerMetric(metric);
    }
  }

  return {
    contentType: registry.contentType,
    async *render(source) {
      await defaults.getMetricsAsJSON();
      let piece = "";
      for (const { name } of registry.getMetricsAsArray()) {
        piece += `${await registry.getSingleMetricAsString(name)}\n`;
        for (const sample of ours.get(name)?.samples(source) ?? []) {
          piece += sampleLine(name, sample);
          if (piece.length >= PIECE_CHARS) {
            yield piece;
            piece = "";
          }
        }
      }
      yield piece;
    },
    observePoll(indexer, durationMs) {
      const labels = labelsOf(indexer);
      polled.set(jsonOf(labels), labels);
      durations.observe(labels, durationMs / 1000);
    },
    retain(indexers) {
      const kept = new Set(
        indexers.map(({ protocol, variant, tier }) => JSON.stringify({ protocol, variant, tier })),
      );
      for (const [key, labels] of polled) {
        if (!kept.has(key) && labels.protocol !== "") {
          durations.remove({ ...labels });
          polled.delete(key);
        }
      }
    },
  };
}

/** Registers a family that stays empty: of it prom-client writes the head only. */
function announce({ name, type, help, labels }: MetricFamily, registry: Registry): void {
  const Metric = type === "gauge" ? Gauge : Counter;
  const metric = new Metric({ name, help, labelNames: [...labels], registers: [registry] });
  if (labels.length === 0) {
    // Without labels it begins with a 0, and what is unknown is never 0.
    metric.remove();
  }
}
