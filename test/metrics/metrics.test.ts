import { readFileSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { expositionText } from "../../src/metrics/exposition.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import { expectGolden } from "../support/golden.ts";
import { fleetOf, fullReport, metricsSource, rpcEndpoint } from "../support/metrics-source.ts";
import { startScenario } from "../support/scenario.ts";
import { sampleChainReport, sampleReport, sampleTargetReport } from "../views/sample-report.ts";

// The values of all series of a fleet are in test/goldens, those of incidents and pairs in test/fixtures/reports.

const BUILD = { version: "1.2.3", revision: "abc", nodeVersion: "v20.19.0" };
const GOLDEN = readFileSync("test/goldens/every-status.metrics.txt", "utf8");

describe("/metrics", () => {
  it("is in the text format of Prometheus, without timestamps, and has each series once", async () => {
    for (const text of [GOLDEN, await render(metricsSource())]) {
      const lines = text.trimEnd().split("\n");
      const series = lines.filter((line) => !line.startsWith("#")).map((line) => line.replace(/ \S+$/, ""));

      expect(lines.filter((line) => !SAMPLE_OR_COMMENT.test(line))).toEqual([]);
      expect(series.filter((one, index) => series.indexOf(one) !== index)).toEqual([]);
    }
  });

  it("exports the build and the useful metrics of the process", async () => {
    const text = await render(metricsSource());

    expect(linesOf(text, "synclag_build_info")).toEqual([
      'synclag_build_info{version="1.2.3",revision="abc",node_version="v20.19.0"} 1',
    ]);
    const positive = [...text.matchAll(/^((?:nodejs|process)_\S+) ([\d.e+]+)$/gm)].filter(
      ([, , value]) => Number(value) > 0,
    );
    expect(positive.map(([, name]) => name)).toEqual(
      expect.arrayContaining([
        "nodejs_heap_size_used_bytes",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
      ]),
    );
  });

  it("serves no series of the fleet while another replica leads", async () => {
    const text = await render(
      metricsSource({ replica: { isLeader: false, isStoreUp: true, isPolling: false } }),
    );

    const names = new Set(namesOf(text).filter((name) => linesOf(text, name).length > 0));
    expect(
      [...names].filter((name) =>
        /^synclag_(up|lag|block|poll|chain|budget|parity|status|variant|incident|reference)/.test(name),
      ),
    ).toEqual([]);
    expect(linesOf(text, "synclag_leader")).toEqual(["synclag_leader 0"]);
  });

  it("has no series for unknown values, but synclag_up for every target", () => {
    const target = sampleTargetReport({
      ...{ status: "unknown", up: false, block_number: null, block_timestamp: null, lag_blocks: null },
      ...{
        lag_seconds: null,
        last_success: null,
        last_advance: null,
        indexing_errors: null,
        deployment: null,
      },
    });
    const chains = [sampleChainReport({ reference: null, block_interval_seconds: null, targets: [target] })];
    const known = metricsSource({ report: { ...fullReport(), incidents: [] } });
    const unknown = metricsSource({
      ...known,
      report: { ...sampleReport({ chains }), budgets: known.report.budgets },
      loop: { lastTickMs: null, inFlight: 0, queued: 0 },
    });

    const without = namesOf(textOf(known)).filter((name) => !namesOf(textOf(unknown)).includes(name));

    expectGolden("test/fixtures/metrics-of-known-values.txt", `${[...without].sort().join("\n")}\n`);
    expect(linesOf(textOf(unknown), "synclag_up")).toEqual([expect.stringMatching(/ 0$/)]);
  });

  it("adds up the RPC nodes of one chain, which share their labels", () => {
    const nodes = [rpcEndpoint(1), rpcEndpoint(2)];
    const counts = new Map([
      [rpcEndpoint(1).key, { requests: 3, "failed: dns": 1 }],
      [rpcEndpoint(2).key, { requests: 4, "failed: dns": 5 }],
    ]);

    const text = textOf(metricsSource({ fleet: fleetOf([], nodes), counts }));

    const labels = 'protocol="",variant="rpc",tier="",endpoint="base"';
    expect(linesOf(text, "synclag_polls_total")).toEqual([`synclag_polls_total{${labels}} 7`]);
    expect(linesOf(text, "synclag_poll_failures_total").filter((line) => !line.endsWith(" 0"))).toEqual([
      `synclag_poll_failures_total{${labels},reason="dns"} 6`,
    ]);
  });

  it("is written in pieces of bounded size, all of one instant, whatever arrives in between", async () => {
    const variants = Array.from(
      { length: 60 },
      (_, index) =>
        `    - { variant: v${index}, dialect: graph, url: "https://v${index}.example/subgraphs/name/a", schedule: "*/15 * * * * *", chains: [base] }`,
    );
    await using play = await startScenario(
      `version: 1\nchains: { base: { id: 8453, name: Base, block_time: 2s } }\nprotocols:\n  airdrops:\n${variants.join("\n")}\n`,
    );
    await play.run("1m");
    const before = play.metrics();

    const pieces: string[] = [];
    const prometheus = createPrometheus(BUILD);
    for await (const piece of prometheus.render(play.metricsSource())) {
      pieces.push(piece);
      await play.run("15s");
    }

    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.filter((piece) => piece.length > 66_000 || !piece.endsWith("\n"))).toEqual([]);
    expect(linesOf(pieces.join(""), "synclag_block_number")).toEqual(linesOf(before, "synclag_block_number"));
    expect(linesOf(pieces.join(""), "synclag_polls_total")).toEqual(linesOf(before, "synclag_polls_total"));
    expect(linesOf(play.metrics(), "synclag_block_number")).not.toEqual(
      linesOf(before, "synclag_block_number"),
    );
  });
});

/** `# …`, or a name, labels and a value: and nothing after that. */
const SAMPLE_OR_COMMENT =
  /^(# (HELP|TYPE) .+|[a-z0-9_]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? (-?[0-9.e+-]+|\+Inf))$/;

function render(source: MetricsSource): Promise<string> {
  return readText(createPrometheus(BUILD).render(source));
}

function textOf(source: MetricsSource): string {
  return expositionText(METRIC_FAMILIES, source);
}

function namesOf(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
}

function linesOf(text: string, name: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}
