import { Counter, Gauge, Registry } from "prom-client";
import { groupBy } from "../../src/core/model/group-by.ts";
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
  const metrics = METRIC_FAMILIES.flatMap((family) => registerAll(family, source, registry));
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

interface Metric {
  readonly metric: Gauge | Counter;
  readonly samples: readonly { readonly labels: Record<string, string>; readonly value: number }[];
}

/** One metric for each name of the family's series: those of a histogram are so many gauges. */
function registerAll(
  { type, name, help, labels, samples }: MetricFamily,
  source: MetricsSource,
  registry: Registry,
): readonly Metric[] {
  const bySuffix = groupBy([...samples(source)], ([, , suffix]) => suffix ?? "");
  return [...bySuffix].map(([suffix, group]) => {
    const labelNames = suffix === "_bucket" ? [...labels, "le"] : [...labels];
    const settings = { name: `${name}${suffix}`, help, labelNames, registers: [registry] };
    return {
      metric: type === "counter" ? new Counter(settings) : new Gauge(settings),
      samples: group.map(([text, value]) => ({ labels: readLabels(text), value })),
    };
  });
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
