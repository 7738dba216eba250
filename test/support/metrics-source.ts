import type { Endpoint, Fleet, Indexer } from "../../src/core/model/fleet.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { Report } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import {
  NOW_MS,
  sampleBudget,
  sampleChainReport,
  sampleEndpoint,
  sampleGap,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../views/sample-report.ts";

/** A source with a value for every metric; a test replaces what it wants. */
export function metricsSource(wanted: Partial<MetricsSource> = {}): MetricsSource {
  const target = sampleTarget({ variant: "subgraph" });
  const expect = { kind: "reply" } as const;
  const asked = { probe: "campaigns", everyMs: 60_000, target: target.key, select: "", maxLatencyMs: null };
  const endpoint = sampleEndpoint({ targets: [target], selections: [{ ...asked, expect, address: null }] });
  const { protocol, variant, tier } = endpoint;
  const took = { "within: 0.05": 1, "within: 10": 1, seconds: 7.04 };
  return {
    report: fullReport(),
    fleet: {
      ...fleetOf([{ protocol, variant, tier, endpoints: [endpoint] }], [rpcEndpoint(1)]),
      parity: [{ name: "campaigns", protocol, everyMs: 60_000, chains: [], variants: [] }],
    },
    counts: new Map([
      [
        endpoint.key,
        {
          ...{ requests: 7, "failed: timeout": 2, "skipped rounds": 1, ...took },
          ...{ "query campaigns within: 0.05": 1, "query campaigns seconds": 0.04 },
          [`parity: campaigns ${target.key}`]: 3,
        },
      ],
      [rpcEndpoint(1).key, { requests: 3, ...took }],
    ]),
    replica: { isLeader: true, isStoreUp: true, isPolling: true },
    loop: { lastTickMs: NOW_MS - 500, inFlight: 2, queued: 4 },
    incidents: new Map([["host", 2]]),
    httpErrors: 2,
    notifications: { sent: 5, failed: 1, dropped: 0 },
    reload: { error: null, lastSuccessMs: NOW_MS - 60_000 },
    ...wanted,
  };
}

/** Two targets on Base, the second behind the first; a budget of each scope; an incident. */
export function fullReport(): Report {
  const subgraph = sampleTarget({ variant: "subgraph" });
  return sampleReport({
    chains: [
      sampleChainReport({
        targets: [
          sampleTargetReport({ preferred: true }),
          sampleTargetReport({
            target: subgraph,
            status: "lagging",
            thresholds: { ...sampleChainReport().thresholds, lagging_blocks: 300 },
            catch_up: { blocks_per_second: 12, eta_seconds: 3_000 },
            regressions: { reorg: 2, reindex: 1 },
            deployment_changes: 3,
            probes: [
              {
                ...{ probe: "campaigns", result: "failing", since: isoTime(NOW_MS - 60_000) },
                ...{ last: isoTime(NOW_MS), latency_seconds: 0.04, detail: "found no rows, expected some" },
              },
            ],
          }),
        ],
        gaps: [sampleGap({ target: subgraph })],
        parity: [sampleParity({ target: subgraph })],
        standings: [
          {
            ...{ source: "rpc/base/node.example/b3d1c0f6a2e4", host: "node.example", block_number: null },
            ...{
              stands: "rejected",
              most_block: null,
              detail: "the node serves chain 1, but chains.yaml says 8453",
            },
          },
        ],
      }),
    ],
    incidents: [
      {
        kind: "cause",
        severity: "warning",
        scope: "host",
        subject: "indexer.example",
        since: isoTime(NOW_MS),
        detail: "x",
        targets: [subgraph.key],
      },
    ],
    unlisted: [{ endpoint: "lockup/multichain/production/all", chain_ids: [10] }],
    budgets: [
      {
        ...{ budget: "gateway", endpoint: null, per: "month", limit: 100_000, used: 40, remaining: 99_960 },
        ...{ detail: null },
      },
      sampleBudget({ used: 3_001, remaining: 0 }),
    ],
  });
}

/** A fleet of these targets only. */
export function fleetOf(indexers: readonly Indexer[], rpcEndpoints: readonly Endpoint[]): Fleet {
  return { digest: null, indexers, rpcEndpoints, chains: [], budgets: [], skipped: [], parity: [] };
}

/** One of the nodes of Base. */
export function rpcEndpoint(number: number): Endpoint {
  return sampleEndpoint({
    key: `rpc/base/${number}`,
    kind: "rpc",
    protocol: "",
    variant: "rpc",
    tier: "",
    name: "base",
    chain: "base",
  });
}
