import type { Endpoint } from "../../src/core/model/fleet.ts";
import type { EndpointCounters, MetricsSource } from "../../src/core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../src/core/model/observation.ts";
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

/** A source in which every metric has something to say, with what a test wants otherwise. */
export function metricsSource(wanted: Partial<MetricsSource> = {}): MetricsSource {
  const endpoint = sampleEndpoint();
  const { protocol, variant, tier } = endpoint;
  return {
    report: fullReport(),
    endpoints: [endpointTally(endpoint, 7, { timeout: 2 }), endpointTally(rpcEndpoint(1), 3)],
    indexers: [{ indexer: { protocol, variant, tier, endpoints: [endpoint] }, roundsSkipped: 1 }],
    parity: [{ target: sampleTarget({ variant: "subgraph" }), probe: "campaigns", failures: 3 }],
    durations: [
      { indexer: { protocol, variant, tier }, counts: [0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0], sumSeconds: 7.04 },
    ],
    replica: { isLeader: true, isStoreUp: true, isPolling: true },
    loop: { lastTickMs: NOW_MS - 500, inFlight: 2, queued: 4 },
    incidents: new Map([["host", 2]]),
    lostLogLines: 0,
    httpErrors: 2,
    notifications: { sent: 5, failed: 1, dropped: 0 },
    reload: { successful: true, lastSuccessMs: NOW_MS - 60_000 },
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
            catch_up: { blocks_per_second: 12, eta_seconds: 3_000 },
            regressions: { reorg: 2, reindex: 1 },
            deployment_changes: 3,
          }),
        ],
        gaps: [sampleGap({ target: subgraph })],
        parity: [sampleParity({ target: subgraph })],
        standings: [
          {
            ...{ source: "rpc/base/node.example/b3d1c0f6a2e4", host: "node.example", block_number: null },
            ...{ stands: "rejected", detail: "the node is of chain 1; chains.yaml says 8453" },
          },
        ],
      }),
    ],
    incidents: [
      {
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

export function endpointTally(
  endpoint: Endpoint,
  requests: number,
  failed: Partial<Record<FailureReason, number>> = {},
): EndpointCounters {
  // Object.fromEntries widens its keys to string; these are the list's own.
  const none = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
    FailureReason,
    number
  >;
  return { endpoint, requests, failures: { ...none, ...failed } };
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
