import { parseConfig } from "../../src/config/parse.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { PollCounters } from "../../src/daemon/polling/counters.ts";
import { syntheticFleet } from "../programs/synthetic-fleet.ts";

/** What a target of one endpoint and one chain brings, with its endpoint and its gap to another variant. */
const SERIES_A_TARGET = 51.5;
const TARGETS_A_CHAIN = 20;
const ROUNDS = 3;
const ROUND_MS = 15_000;

/** What the metrics of a fleet with so many series are read from, after some rounds in which all went well. */
export function sourceOf(series: number): MetricsSource {
  const endpoints = Math.ceil(series / SERIES_A_TARGET);
  const { fleet } = parseConfig(
    syntheticFleet({
      endpoints,
      chains: Math.ceil(endpoints / TARGETS_A_CHAIN),
      origin: "http://localhost",
      schedule: "*/15 * * * * *",
      concurrency: 100,
    }),
    { file: "chains.yaml", env: {}, readFile: () => "" },
  );
  let nowMs = Date.now();
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const tally = new PollCounters();
  tally.watch(fleet);
  for (let round = 0; round < ROUNDS; round += 1) {
    nowMs += ROUND_MS;
    for (const endpoint of fleet.indexers.flatMap((indexer) => indexer.endpoints)) {
      tally.countRequest(endpoint, 40);
      monitor.observe(endpoint.targets.map(({ key }, index) => headOf(key, nowMs - index)));
    }
  }
  return {
    report: monitor.report(),
    endpoints: tally.endpoints(),
    indexers: tally.indexers(),
    parity: [],
    durations: tally.durations(),
    replica: null,
    loop: { lastTickMs: nowMs, inFlight: 0, queued: 0 },
    lostLogLines: 0,
    httpErrors: 0,
    reload: { successful: true, lastSuccessMs: nowMs },
  };
}

function headOf(source: string, nowMs: number): Observation {
  const behind = source.length % 3;
  return {
    kind: "head",
    source,
    sentAtMs: nowMs - 180,
    receivedAtMs: nowMs,
    head: {
      block: Math.floor(nowMs / 2_000) - behind,
      timestampSec: Math.floor(nowMs / 2_000 - behind) * 2,
      hash: null,
      deployment: "QmZfMYd7SgCLQqrA6hVfvJLbrmVQPVN8bUBJ9WEJbzWzEa",
      indexingErrors: false,
    },
  };
}
