import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Indexer } from "../core/fleet.ts";
import type { MetricFamily, MetricsSource } from "../metrics/metric-family.ts";

export interface PrometheusOptions {
  readonly families: readonly MetricFamily[];
  /** Called once a scrape. */
  readonly read: () => MetricsSource;
  readonly build: { readonly version: string; readonly revision: string; readonly nodeVersion: string };
}

export interface Prometheus {
  readonly contentType: string;
  /** The text format 0.0.4 only: once asked for OpenMetrics, prom-client spoils `_total` for later scrapes. */
  readonly render: () => Promise<string>;
  readonly observePoll: (labels: PollLabels, durationMs: number) => void;
  /** Drops the histogram series of indexers that a reload removed. */
  readonly retain: (indexers: readonly Indexer[]) => void;
}

export interface PollLabels {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
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

/** A registry of its own, whose series are made anew from memory at each scrape, so that removed ones vanish. */
export function createPrometheus({ families, read, build }: PrometheusOptions): Prometheus {
  const registry = new Registry();
  let source: MetricsSource | null = null;
  for (const family of families) {
    register(family, { registry, current: () => source });
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
  const polled = new Map<string, PollLabels>();

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
    async render() {
      await defaults.getMetricsAsJSON();
      source = read();
      return await registry.metrics();
    },
    observePoll({ protocol, variant, tier }, durationMs) {
      const labels = { protocol, variant, tier };
      polled.set(JSON.stringify(labels), labels);
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

interface Scrape {
  readonly registry: Registry;
  readonly current: () => MetricsSource | null;
}

function register({ name, type, help, labels, samples }: MetricFamily, { registry, current }: Scrape): void {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  if (type === "gauge") {
    const gauge: Gauge = new Gauge({
      ...settings,
      collect: () => fill(gauge, (...sample) => gauge.set(...sample)),
    });
  } else {
    const counter: Counter = new Counter({
      ...settings,
      collect: () => fill(counter, (...sample) => counter.inc(...sample)),
    });
  }

  function fill(metric: Gauge | Counter, put: (labels: Record<string, string>, value: number) => void): void {
    const source = current();
    metric.reset();
    if (labels.length === 0) {
      // Without labels a reset leaves a 0 behind, and what is unknown is never 0.
      metric.remove();
    }
    for (const [sampleLabels, value] of source === null ? [] : samples(source)) {
      put({ ...sampleLabels }, value);
    }
  }
}
