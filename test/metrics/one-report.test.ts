import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { PollCounters } from "../../src/daemon/polling/counters.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { BASE, headAt, T0 } from "../core/chain/chain-fixture.ts";

/** More than a piece of text each: polls come in between two. */
const ENDPOINTS = Array.from({ length: 100 }, (_, index) => endpointOf({ variant: `v${index}` }));
const FLEET = { ...fleetOf(ENDPOINTS), chains: [BASE] };

describe("the text of a scrape", () => {
  it("is of one report, whatever is heard while it is written", async () => {
    const daemon = start();
    daemon.hear(1_000);
    const source = daemon.source();
    const before = await readText(render(source));

    const pieces: string[] = [];
    for await (const piece of render(source)) {
      pieces.push(piece);
      daemon.hear(1_000 + pieces.length);
      daemon.source();
    }

    expect(pieces.length).toBeGreaterThan(5);
    expect(ours(pieces.join(""))).toBe(ours(before));
    expect(ours(await readText(render(daemon.source())))).not.toBe(ours(before));
  });
});

function render(source: MetricsSource): AsyncIterable<string> {
  return createPrometheus({
    families: METRIC_FAMILIES,
    build: { version: "1.2.3", revision: "abc", nodeVersion: "v20.19.0" },
  }).render(source);
}

/** What stands before the metrics of the process, which are those of their instant. */
function ours(text: string): string {
  return text.slice(0, text.indexOf("# HELP process_"));
}

function start() {
  let nowMs = T0;
  const monitor = new Monitor(FLEET, { nowMs: () => nowMs, budgets: () => [] });
  const tally = new PollCounters();
  tally.watch(FLEET);
  return {
    hear(block: number): void {
      nowMs += 15_000;
      for (const endpoint of ENDPOINTS) {
        tally.countRequest(endpoint, 40);
        monitor.observe([headAt(endpoint.key, nowMs, { block })]);
      }
    },
    source: (): MetricsSource => ({
      report: monitor.report(),
      endpoints: tally.endpoints(),
      indexers: tally.indexers(),
      parity: [],
      durations: tally.durations(),
      replica: null,
      loop: { lastTickMs: nowMs, inFlight: 0, queued: 0 },
      lostLogLines: 0,
      httpErrors: 0,
      reload: { successful: true, lastSuccessMs: T0 },
    }),
  };
}
