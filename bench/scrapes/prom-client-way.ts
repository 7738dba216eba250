import { Counter, Gauge, Registry } from "prom-client";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import type { MetricFamily } from "../../src/metrics/families/family.ts";

/** The same series, held and written by prom-client. */
export interface PromClientWay {
  /** Empties all metrics and sets them to what they are: what would be read for that is at hand already. */
  readonly fill: () => void;
  readonly render: () => Promise<string>;
}

/** A registry of all families that are read at a scrape, filled. */
export function createPromClientWay(source: MetricsSource): PromClientWay {
  const registry = new Registry();
  const metrics = METRIC_FAMILIES.map((family) => ({
    metric: register(family, registry),
    samples: [...family.samples(source)].map(([labels, value]) => ({ labels: readLabels(labels), value })),
  }));
  const way: PromClientWay = {
    fill() {
      for (const { metric, samples } of metrics) {
        metric.reset();
        for (const { labels, value } of samples) {
          set(metric, { ...labels }, value);
        }
      }
    },
    render: () => registry.metrics(),
  };
  way.fill();
  return way;
}

function register({ type, name, help, labels }: MetricFamily, registry: Registry): Gauge | Counter {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  return type === "gauge" ? new Gauge(settings) : new Counter(settings);
}

function set(metric: Gauge | Counter, labels: Record<string, string>, value: number): void {
  if (metric instanceof Gauge) {
    metric.set(labels, value);
  } else {
    metric.inc(labels, value);
  }
}

/** The values of this fleet have nothing in them that is escaped. */
function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value] as const),
  );
}
