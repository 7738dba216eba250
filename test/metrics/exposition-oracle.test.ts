import { text as readText } from "node:stream/consumers";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { DURATION_BUCKETS_SECONDS, type MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { MetricFamily } from "../../src/metrics/exposition.ts";
import { labelsText, sampleLine } from "../../src/metrics/exposition.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import { metricsSource } from "../support/metrics-source.ts";
import {
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../views/sample-report.ts";

const BUILD = { version: "1.2.3", revision: "abc", nodeVersion: "v20.19.0" };

describe("createPrometheus()", () => {
  it("writes every family as prom-client would, whatever its labels contain", async () => {
    const hostile = sampleTarget({ protocol: 'a"b', variant: "sub\\graph", tier: "n\nn", chain: "ø,}" });
    const targets = [sampleTargetReport({ target: hostile, deployment: "\\n", lag_seconds: 1e21 })];
    const gaps = [sampleGap({ target: hostile, against: '"', seconds: -0.5 })];
    const sources = [
      metricsSource(),
      metricsSource({ report: sampleReport({ chains: [sampleChainReport({ targets, gaps })] }) }),
    ];

    for (const source of sources) {
      const text = await readText(createPrometheus(BUILD).render(source));
      const expected = await textOfPromClient(source);
      expect(text.slice(0, expected.length)).toBe(expected);
      expect(text.slice(expected.length)).toMatch(/^# HELP synclag_build_info /);
    }
  });
});

describe("sampleLine()", () => {
  it("escapes labels, and writes every number", () => {
    const samples = [
      [{}, 1],
      [{ chain: "base", chain_id: "" }, -1.5],
      [{ chain: 'a"b\\c\nd' }, 1e21],
      [{}, Number.POSITIVE_INFINITY],
      [{}, Number.NEGATIVE_INFINITY],
      [{}, Number.NaN],
    ] as const;

    expect(samples.map(([labels, value]) => sampleLine("a", [labelsText(labels), value]))).toEqual([
      "a 1\n",
      'a{chain="base",chain_id=""} -1.5\n',
      'a{chain="a\\"b\\\\c\\nd"} 1e+21\n',
      "a +Inf\n",
      "a -Inf\n",
      "a NaN\n",
    ]);
  });
});

/** prom-client's own text of the same samples; the empty lines between families, which mean nothing, left out. */
async function textOfPromClient(source: MetricsSource): Promise<string> {
  const registry = new Registry();
  for (const family of METRIC_FAMILIES) {
    record(family, source, registry);
  }
  return (await registry.metrics()).replaceAll("\n\n", "\n");
}

function record(
  { name, type, help, labels, samples }: MetricFamily,
  source: MetricsSource,
  registry: Registry,
): void {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  if (type === "histogram") {
    const histogram = new Histogram({ ...settings, buckets: DURATION_BUCKETS_SECONDS.slice(0, -1) });
    const nodes = { protocol: "", variant: "rpc", tier: "" };
    for (const { protocol, variant, tier } of [...source.fleet.indexers, nodes]) {
      if (!labels.includes("probe")) {
        histogram.observe({ protocol, variant, tier }, 0.04);
        histogram.observe({ protocol, variant, tier }, 7);
      } else if (variant !== "rpc") {
        histogram.observe({ protocol, variant, tier, endpoint: "all", probe: "campaigns" }, 0.04);
      }
    }
    return;
  }
  const metric = type === "gauge" ? new Gauge(settings) : new Counter(settings);
  for (const [text, value] of samples(source)) {
    metric.inc(readLabels(text), value);
  }
}

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, label = "", value = ""]) => [label, unescaped(value)] as const,
    ),
  );
}

function unescaped(value: string): string {
  return value.replace(/\\./g, (pair) => (pair === "\\n" ? "\n" : pair.slice(1)));
}
