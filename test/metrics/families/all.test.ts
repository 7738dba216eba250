import { describe, expect, it } from "vitest";
import type { MetricsSource } from "../../../src/core/model/metrics-source.ts";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { STATUSES } from "../../../src/core/model/report.ts";
import { METRIC_FAMILIES } from "../../../src/metrics/families/all.ts";
import { endpointTally, fullReport, metricsSource, rpcEndpoint } from "../../support/metrics-source.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../../views/sample-report.ts";
import { PUBLIC } from "./public-metrics.ts";

type Labels = Readonly<Record<string, string>>;

const BASE: Labels = {
  protocol: "lockup",
  variant: "multichain",
  tier: "production",
  chain: "base",
  chain_id: "8453",
};
const BASE_SUBGRAPH: Labels = { ...BASE, variant: "subgraph" };
const PAIR = { ...BASE_SUBGRAPH, against: "multichain", probe: "campaigns" };
const ENDPOINT: Labels = { protocol: "lockup", variant: "multichain", tier: "production", endpoint: "all" };
const SHARED_BUDGET: Labels = { budget: "gateway", protocol: "", variant: "", tier: "", endpoint: "shared" };
const OWN_BUDGET: Labels = { budget: "studio", ...ENDPOINT };
const RPC: Labels = { protocol: "", variant: "rpc", tier: "", endpoint: "base" };

describe("METRIC_FAMILIES", () => {
  it("are the public ones: name, type and labels", () => {
    const families = METRIC_FAMILIES.map(({ name, type, labels }) => ({ name, type, labels }));

    expect(sorted(families)).toEqual(sorted(PUBLIC));
  });

  it.each(METRIC_FAMILIES)("$name says something, with exactly its labels", ({ name, labels }) => {
    const samples = samplesOf(name);

    expect(samples).not.toEqual([]);
    for (const [sampleLabels, value] of samples) {
      expect(Object.keys(sampleLabels)).toEqual(labels);
      expect(Number.isFinite(value)).toBe(true);
    }
  });

  it.each(METRIC_FAMILIES)("$name has each series once", ({ name }) => {
    const keys = samplesOf(name).map(([labels]) => JSON.stringify(labels));

    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each([
    {
      name: "synclag_up",
      expected: [
        [BASE, 1],
        [BASE_SUBGRAPH, 1],
      ],
    },
    {
      name: "synclag_block_number",
      expected: [
        [BASE, 38_000_000],
        [BASE_SUBGRAPH, 38_000_000],
      ],
    },
    {
      name: "synclag_block_timestamp_seconds",
      expected: [
        [BASE, NOW_MS / 1000 - 6],
        [BASE_SUBGRAPH, NOW_MS / 1000 - 6],
      ],
    },
    {
      name: "synclag_last_success_timestamp_seconds",
      expected: [
        [BASE, NOW_MS / 1000 - 2],
        [BASE_SUBGRAPH, NOW_MS / 1000 - 2],
      ],
    },
    {
      name: "synclag_last_advance_timestamp_seconds",
      expected: [
        [BASE, NOW_MS / 1000 - 2],
        [BASE_SUBGRAPH, NOW_MS / 1000 - 2],
      ],
    },
    {
      name: "synclag_lag_blocks",
      expected: [
        [BASE, 2],
        [BASE_SUBGRAPH, 2],
      ],
    },
    {
      name: "synclag_lag_seconds",
      expected: [
        [BASE, 4],
        [BASE_SUBGRAPH, 4],
      ],
    },
    {
      name: "synclag_indexing_errors",
      expected: [
        [BASE, 0],
        [BASE_SUBGRAPH, 0],
      ],
    },
    {
      name: "synclag_preferred",
      expected: [
        [BASE, 1],
        [BASE_SUBGRAPH, 0],
      ],
    },
    {
      name: "synclag_deployment_info",
      expected: [
        [{ ...BASE, deployment: "QmSample" }, 1],
        [{ ...BASE_SUBGRAPH, deployment: "QmSample" }, 1],
      ],
    },
    {
      name: "synclag_deployment_changes_total",
      expected: [
        [BASE, 0],
        [BASE_SUBGRAPH, 3],
      ],
    },
    { name: "synclag_variant_gap_blocks", expected: [[{ ...BASE_SUBGRAPH, against: "multichain" }, 1240]] },
    { name: "synclag_variant_gap_seconds", expected: [[{ ...BASE_SUBGRAPH, against: "multichain" }, 2480]] },
    {
      name: "synclag_variant_gap_uncertainty_blocks",
      expected: [[{ ...BASE_SUBGRAPH, against: "multichain" }, 0.5]],
    },
    { name: "synclag_reference_block_number", expected: [[{ chain: "base", chain_id: "8453" }, 38_000_002]] },
    { name: "synclag_reference_sources", expected: [[{ chain: "base", chain_id: "8453" }, 3]] },
    { name: "synclag_block_interval_seconds", expected: [[{ chain: "base", chain_id: "8453" }, 2.003]] },
    { name: "synclag_parity", expected: [[PAIR, 0]] },
    { name: "synclag_parity_difference", expected: [[PAIR, 2]] },
    { name: "synclag_parity_compared_block", expected: [[PAIR, 37_999_990]] },
    { name: "synclag_parity_last_comparison_timestamp_seconds", expected: [[PAIR, NOW_MS / 1000 - 60]] },
    { name: "synclag_parity_failures_total", expected: [[{ ...BASE_SUBGRAPH, probe: "campaigns" }, 3]] },
    { name: "synclag_incident_active", expected: [[{ scope: "host", subject: "indexer.example" }, 1]] },
    {
      name: "synclag_polls_total",
      expected: [
        [ENDPOINT, 7],
        [RPC, 3],
      ],
    },
    {
      name: "synclag_rounds_skipped_total",
      expected: [[{ protocol: "lockup", variant: "multichain", tier: "production" }, 1]],
    },
    {
      name: "synclag_budget_limit",
      expected: [
        [SHARED_BUDGET, 100_000],
        [OWN_BUDGET, 3_000],
      ],
    },
    {
      name: "synclag_budget_used",
      expected: [
        [SHARED_BUDGET, 40],
        [OWN_BUDGET, 3_001],
      ],
    },
    {
      name: "synclag_budget_remaining",
      expected: [
        [SHARED_BUDGET, 99_960],
        [OWN_BUDGET, 0],
      ],
    },
    { name: "synclag_budget_drawn", expected: [[{ ...SHARED_BUDGET, process: "web-1:9855" }, 40]] },
    { name: "synclag_scheduler_last_tick_timestamp_seconds", expected: [[{}, (NOW_MS - 500) / 1000]] },
    { name: "synclag_polls_in_flight", expected: [[{}, 2]] },
    { name: "synclag_polls_queued", expected: [[{}, 4]] },
    { name: "synclag_log_lines_lost_total", expected: [[{}, 0]] },
    { name: "synclag_http_errors_total", expected: [[{}, 2]] },
    { name: "synclag_config_last_reload_successful", expected: [[{}, 1]] },
    { name: "synclag_config_last_reload_success_timestamp_seconds", expected: [[{}, NOW_MS / 1000 - 60]] },
  ])("$name in its unit", ({ name, expected }) => {
    expect(samplesOf(name)).toEqual(expected);
  });
});

describe("synclag_status", () => {
  it("is one-hot over the closed list", () => {
    const ofSubgraph = samplesOf("synclag_status").filter(([{ variant }]) => variant === "subgraph");

    expect(ofSubgraph.map(([{ status }]) => status)).toEqual(STATUSES);
    expect(ofSubgraph.filter(([, value]) => value === 1)).toEqual([
      [{ ...BASE_SUBGRAPH, status: "lagging" }, 1],
    ]);
    expect(ofSubgraph.filter(([, value]) => value === 0)).toHaveLength(STATUSES.length - 1);
  });
});

describe("synclag_threshold_seconds", () => {
  it("tells each limit in seconds, so that rules need no numbers of their own", () => {
    const ofBase = samplesOf("synclag_threshold_seconds").filter(([{ variant }]) => variant === "multichain");

    expect(ofBase).toEqual([
      [{ ...BASE, level: "lagging" }, 600],
      [{ ...BASE, level: "critical" }, 1800],
      [{ ...BASE, level: "stalled" }, 600],
    ]);
  });
});

describe("synclag_regressions_total", () => {
  it("counts each kind from 0 on", () => {
    expect(samplesOf("synclag_regressions_total")).toEqual([
      [{ ...BASE, kind: "reorg" }, 0],
      [{ ...BASE, kind: "reindex" }, 0],
      [{ ...BASE_SUBGRAPH, kind: "reorg" }, 2],
      [{ ...BASE_SUBGRAPH, kind: "reindex" }, 1],
    ]);
  });
});

describe("synclag_poll_failures_total", () => {
  it("has every reason from the start, at 0", () => {
    const ofEndpoint = samplesOf("synclag_poll_failures_total").filter(
      ([{ endpoint }]) => endpoint === "all",
    );

    expect(ofEndpoint.map(([{ reason }]) => reason)).toEqual(FAILURE_REASONS);
    expect(ofEndpoint.filter(([, value]) => value > 0)).toEqual([[{ ...ENDPOINT, reason: "timeout" }, 2]]);
  });

  it("adds up the nodes of one chain, which share their labels", () => {
    const endpoints = [
      endpointTally(rpcEndpoint(1), 3, { dns: 1 }),
      endpointTally(rpcEndpoint(2), 4, { dns: 5 }),
    ];

    const polls = samplesOf("synclag_polls_total", { endpoints });
    const failures = samplesOf("synclag_poll_failures_total", { endpoints });

    expect(polls).toEqual([[RPC, 7]]);
    expect(failures.filter(([, value]) => value > 0)).toEqual([[{ ...RPC, reason: "dns" }, 6]]);
  });
});

describe("what is unknown", () => {
  const unknownTarget = sampleTargetReport({
    status: "unknown",
    up: false,
    block: null,
    blockTimestampSec: null,
    lagBlocks: null,
    lagMs: null,
    lastSuccessMs: null,
    lastAdvanceMs: null,
    indexingErrors: null,
    deployment: null,
  });
  const unknown = metricsSource({
    report: sampleReport({
      chains: [sampleChainReport({ reference: null, blockIntervalMs: null, targets: [unknownTarget] })],
    }),
    loop: { lastTickMs: null, inFlight: 0, queued: 0 },
  });

  it.each([
    "synclag_block_number",
    "synclag_block_timestamp_seconds",
    "synclag_last_success_timestamp_seconds",
    "synclag_last_advance_timestamp_seconds",
    "synclag_lag_blocks",
    "synclag_lag_seconds",
    "synclag_indexing_errors",
    "synclag_deployment_info",
    "synclag_reference_block_number",
    "synclag_reference_sources",
    "synclag_block_interval_seconds",
    "synclag_variant_gap_blocks",
    "synclag_scheduler_last_tick_timestamp_seconds",
  ])("is absent from %s, never 0", (name) => {
    expect(samplesOf(name, unknown)).toEqual([]);
  });

  it("leaves synclag_up of every configured target in place, at 0", () => {
    expect(samplesOf("synclag_up", unknown)).toEqual([[BASE, 0]]);
  });

  it("is absent for a gap whose time is unknown, though its blocks are known", () => {
    const [chain = sampleChainReport()] = fullReport().chains;
    const gaps = chain.gaps.map((gap) => ({ ...gap, seconds: null }));
    const source = metricsSource({ report: sampleReport({ chains: [{ ...chain, gaps }] }) });

    expect(samplesOf("synclag_variant_gap_seconds", source)).toEqual([]);
    expect(samplesOf("synclag_variant_gap_blocks", source)).toHaveLength(1);
  });

  it("is not a lag of 0 where a target is at the head", () => {
    const target = sampleTargetReport({ lagBlocks: 0, lagMs: 0 });
    const source = metricsSource({
      report: sampleReport({ chains: [sampleChainReport({ targets: [target] })] }),
    });

    expect(samplesOf("synclag_lag_seconds", source)).toEqual([[BASE, 0]]);
  });
});

describe("labels", () => {
  it("tell two chains and two tiers apart", () => {
    const mode = sampleChain({ slug: "mode", id: 34443 });
    const onMode = sampleTarget({ chain: "mode", chainId: 34443, tier: "testing" });
    const chains = [
      sampleChainReport(),
      sampleChainReport({ chain: mode, targets: [sampleTargetReport({ target: onMode })] }),
    ];

    const samples = samplesOf("synclag_up", metricsSource({ report: sampleReport({ chains }) }));

    expect(samples.map(([labels]) => labels)).toEqual([
      BASE,
      { ...BASE, tier: "testing", chain: "mode", chain_id: "34443" },
    ]);
  });
});

function samplesOf(
  name: string,
  wanted: Partial<MetricsSource> = {},
): readonly (readonly [labels: Labels, value: number])[] {
  const source = metricsSource(wanted);
  return (
    METRIC_FAMILIES.filter((family) => family.name === name)
      .flatMap((family) => [...family.samples(source)])
      // Of a histogram the counts: the series of its classes have a label more.
      .filter(([, , suffix = "_count"]) => suffix === "_count")
      .map(([labels, value]) => [readLabels(labels), value])
  );
}

function readLabels(text: string): Labels {
  return Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value] as const),
  );
}

function sorted<T extends { readonly name: string }>(families: readonly T[]): readonly T[] {
  return [...families].sort((a, b) => (a.name < b.name ? -1 : 1));
}
