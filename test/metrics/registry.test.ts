import { text as readText } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { createPrometheus, type Prometheus } from "../../src/metrics/registry.ts";
import { metricsSource } from "../support/metrics-source.ts";
import { sampleChainReport, sampleReport, sampleTarget, sampleTargetReport } from "../views/sample-report.ts";

const BUILD = { version: "1.2.3", revision: "abc", nodeVersion: "v20.19.0" };

describe("createPrometheus()", () => {
  it("serves the text format that every Prometheus reads, and no time of a sample", async () => {
    const { prometheus, render } = setUp();

    const text = await render();

    expect(prometheus.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text.split("\n").filter((line) => line !== "" && !SAMPLE_OR_COMMENT.test(line))).toEqual([]);
  });

  it("announces each metric once, with help that Prometheus' own linter accepts", async () => {
    const text = await setUp().render();

    const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)];
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const names = helps.map(([, name]) => name);
    expect(names).toEqual(types.map(([, name]) => name));
    expect(new Set(names).size).toBe(names.length);
    for (const [, name = "", type] of types) {
      expect(name.endsWith("_total")).toBe(type === "counter");
    }
    for (const [, , help = ""] of helps) {
      expect(help.trim()).not.toBe("");
    }
  });

  it("lets the series of removed targets vanish with the next scrape", async () => {
    const { read, render } = setUp();
    const other = sampleTargetReport({ target: sampleTarget({ protocol: "airdrops" }) });
    const first = await render();

    read.source = metricsSource({
      report: sampleReport({ chains: [sampleChainReport({ targets: [other] })] }),
      endpoints: [],
    });
    const second = await render();

    expect(first).toContain('synclag_up{protocol="lockup"');
    expect(second).not.toContain('synclag_up{protocol="lockup"');
    expect(second).toContain('synclag_up{protocol="airdrops"');
    expect(linesOf(second, "synclag_polls_total")).toEqual([]);
  });

  it("shows counters as they stand, however often it is scraped, also at once", async () => {
    const { render } = setUp();

    const texts = [await render(), ...(await Promise.all([render(), render()]))];

    for (const text of texts) {
      expect(linesOf(text, "synclag_polls_total")[0]).toMatch(/ 7$/);
      expect(linesOf(text, "synclag_poll_failures_total").filter((line) => / 2$/.test(line))).toHaveLength(1);
    }
  });

  it("leaves an unlabelled gauge out while its value is unknown, and brings it back", async () => {
    const { read, render } = setUp();
    const known = read.source;
    const name = "synclag_scheduler_last_tick_timestamp_seconds";

    const before = await render();
    read.source = metricsSource({ loop: { lastTickMs: null, inFlight: 0, queued: 0 } });
    const unknown = await render();
    read.source = known;
    const after = await render();

    expect([before, unknown, after].map((text) => linesOf(text, name).length)).toEqual([1, 0, 1]);
  });

  it("escapes the values of labels", async () => {
    const { read, render } = setUp();
    const target = sampleTarget({ variant: 'a"b\\c\nd' });
    read.source = metricsSource({
      report: sampleReport({ chains: [sampleChainReport({ targets: [sampleTargetReport({ target })] })] }),
    });

    const text = await render();

    expect(text).toContain('synclag_up{protocol="lockup",variant="a\\"b\\\\c\\nd",');
  });

  it("says which build it is", async () => {
    expect(linesOf(await setUp().render(), "synclag_build_info")).toEqual([
      'synclag_build_info{version="1.2.3",revision="abc",node_version="v20.19.0"} 1',
    ]);
  });

  it("tells truths of the process, and nothing else of prom-client's own", async () => {
    const { render } = setUp();
    await render();
    spendCpu(30);

    const text = await render();

    const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
    expect(names.filter((name) => !name.startsWith("synclag_")).sort()).toEqual([
      "nodejs_eventloop_lag_p99_seconds",
      "nodejs_heap_size_total_bytes",
      "nodejs_heap_size_used_bytes",
      "process_cpu_seconds_total",
      "process_max_fds",
      "process_open_fds",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
    ]);
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"]) {
      expect(Number(linesOf(text, name)[0]?.split(" ")[1])).toBeGreaterThan(0);
    }
  });

  it("measures how late the event loop was since the last scrape, beyond the interval of the timer", async () => {
    const { render } = setUp();
    await vi.waitFor(
      async () => {
        await loopTurns();
        expect(eventLoopLagSeconds(await render())).toBeLessThan(0.05);
      },
      { timeout: 4_000 },
    );
    await loopTurns();
    spendCpu(400);
    await loopTurns();

    const text = await render();

    // The timer is 300 to 400 ms late, for its 100 ms may have begun just before.
    expect(eventLoopLagSeconds(text)).toBeGreaterThan(0.28);
  });

  it("renders a large fleet in pieces of bounded size, so that the event loop turns in between", async () => {
    const targets = Array.from({ length: 2_000 }, (_, index) =>
      sampleTargetReport({ target: sampleTarget({ variant: `v${index}` }) }),
    );
    const { prometheus } = setUp();
    const source = metricsSource({ report: sampleReport({ chains: [sampleChainReport({ targets })] }) });

    const pieces: string[] = [];
    for await (const piece of prometheus.render(source)) {
      pieces.push(piece);
    }

    expect(linesOf(pieces.join(""), "synclag_status")).toHaveLength(26_000);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(66_000);
  });
});

describe("createPrometheus(), of a replica that stands by", () => {
  it("serves no series of the fleet, and says that another leads", async () => {
    const { read, render } = setUp();
    read.source = metricsSource({ replica: { isLeader: false, isStoreUp: true, isPolling: false } });

    const samples = (await render()).split("\n").filter((line) => /^synclag_/.test(line));

    expect(samples.map((line) => line.replace(/[{ ].*/, "")).sort()).toEqual([
      "synclag_build_info",
      "synclag_config_last_reload_success_timestamp_seconds",
      "synclag_config_last_reload_successful",
      "synclag_http_errors_total",
      "synclag_leader",
      "synclag_log_lines_lost_total",
      "synclag_store_up",
    ]);
    expect(samples).toContain("synclag_leader 0");
  });
});

/** `# …`, or a name, labels and a value: and nothing after that. */
const SAMPLE_OR_COMMENT =
  /^(# (HELP|TYPE) .+|[a-z0-9_]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? (-?[0-9.e+-]+|\+Inf))$/;

interface SetUp {
  readonly prometheus: Prometheus;
  readonly read: { source: MetricsSource };
  readonly render: () => Promise<string>;
}

function setUp(): SetUp {
  const read = { source: metricsSource() };
  const prometheus = createPrometheus({ families: METRIC_FAMILIES, build: BUILD });
  return { read, prometheus, render: () => readText(prometheus.render(read.source)) };
}

/** The samples of a metric, or of the parts of a histogram. */
function linesOf(text: string, name: string): readonly string[] {
  const start = new RegExp(`^${name}(_bucket|_sum|_count)?[{ ]`);
  return text.split("\n").filter((line) => start.test(line));
}

function eventLoopLagSeconds(text: string): number {
  return Number(linesOf(text, "nodejs_eventloop_lag_p99_seconds")[0]?.split(" ")[1]);
}

function spendCpu(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until) {
    // Spending it is the point.
  }
}

/** Long enough for the timer that measures the delay of the event loop to fire twice: after a scrape it begins with the first. */
async function loopTurns(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 250));
}
