import type { Chain, Endpoint, Target } from "../../src/core/model/fleet.ts";
import {
  type BudgetReport,
  type ChainReport,
  type GapReport,
  type ParityReport,
  type Report,
  type TargetReport,
  targetId,
} from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";

/** Tuesday 1 December 2026, 03:12:44 UTC. */
export const NOW_MS = Date.UTC(2026, 11, 1, 3, 12, 44);

const MINUTE_MS = 60_000;

export function sampleChain(overrides: Partial<Chain> = {}): Chain {
  return {
    slug: "base",
    id: 8453,
    name: "Base",
    blockTimeMs: 2000,
    testnet: false,
    explorer: "https://basescan.org",
    thresholds: {
      laggingMs: 10 * MINUTE_MS,
      criticalMs: 30 * MINUTE_MS,
      stalledMs: 10 * MINUTE_MS,
      staleMs: 5 * MINUTE_MS,
    },
    ...overrides,
  };
}

export function sampleTarget(overrides: Partial<Omit<Target, "key">> = {}): Target {
  const target = {
    protocol: "lockup",
    variant: "multichain",
    tier: "production",
    chain: "base",
    chainId: 8453,
    explorer: null,
    playground: null,
    pollIntervalMs: 15_000,
    ...overrides,
  };
  return { key: `${target.protocol}/${target.variant}/${target.tier}/${target.chain}`, ...target };
}

export function sampleEndpoint(overrides: Partial<Endpoint> = {}): Endpoint {
  return {
    key: "lockup/multichain/production/all",
    kind: "indexer",
    protocol: "lockup",
    variant: "multichain",
    tier: "production",
    name: "all",
    url: "https://indexer.example/v1/graphql",
    host: "indexer.example",
    headers: {},
    dialect: "envio",
    schedule: "*/15 * * * * *",
    pollIntervalMs: 15_000,
    budget: null,
    targets: [],
    chain: null,
    ...overrides,
  };
}

/** A target that is ok and 4 s behind, but for what the overrides say. */
export function sampleTargetReport({
  target = sampleTarget(),
  ...overrides
}: Partial<TargetReport> & { readonly target?: Target } = {}): TargetReport {
  return {
    ...targetId(target),
    status: "ok",
    since: null,
    status_changes: 0,
    reason: null,
    up: true,
    block_number: 38_000_000,
    block_timestamp: isoTime(NOW_MS - 6_000),
    lag_blocks: 2,
    lag_seconds: 4,
    lag_extrapolated: false,
    catch_up: null,
    last_success: isoTime(NOW_MS - 2_000),
    last_advance: isoTime(NOW_MS - 2_000),
    indexing_errors: false,
    deployment: "QmSample",
    deployment_changes: 0,
    regressions: { reorg: 0, reindex: 0 },
    preferred: false,
    maintenance: false,
    detail: "4 s behind the reference",
    explorer: target.explorer,
    playground: target.playground,
    ...overrides,
  };
}

export function sampleGap({
  target = sampleTarget({ variant: "subgraph" }),
  ...overrides
}: Partial<GapReport> & { readonly target?: Target } = {}): GapReport {
  return {
    ...targetId(target),
    against: "multichain",
    blocks: 1240,
    seconds: 2480,
    uncertainty_blocks: 0.5,
    ...overrides,
  };
}

/** The subgraph lacks two rows that multichain has. */
export function sampleParity({
  target = sampleTarget({ variant: "subgraph" }),
  rival = sampleTarget(),
  ...overrides
}: Partial<ParityReport> & { readonly target?: Target; readonly rival?: Target } = {}): ParityReport {
  return {
    ...targetId(target),
    probe: "campaigns",
    against: rival.variant,
    against_key: rival.key,
    result: "different",
    block: 37_999_990,
    value: "6141",
    against_value: "6143",
    difference: 2,
    since: isoTime(NOW_MS - 20 * MINUTE_MS),
    last_comparison: isoTime(NOW_MS - MINUTE_MS),
    odd: null,
    odd_key: null,
    latest: { block_number: 37_999_990, value: "6141", read: isoTime(NOW_MS - MINUTE_MS) },
    against_latest: { block_number: 37_999_992, value: "6143", read: isoTime(NOW_MS - MINUTE_MS) },
    detail: "differs from multichain for 20 min: 6141 here and 6143 there at block 37,999,990",
    ...overrides,
  };
}

export function sampleChainReport({
  chain = sampleChain(),
  ...overrides
}: Partial<ChainReport> & { readonly chain?: Chain } = {}): ChainReport {
  return {
    slug: chain.slug,
    chain_id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    explorer: chain.explorer,
    block_time_seconds: chain.blockTimeMs === null ? null : chain.blockTimeMs / 1_000,
    block_interval_seconds: 2.003,
    reference: {
      block_number: 38_000_002,
      sources: 3,
      members: [],
      opposed: [],
      time: isoTime(NOW_MS - 2_000),
    },
    dispute: null,
    standings: [],
    thresholds: {
      lagging_seconds: chain.thresholds.laggingMs / 1_000,
      critical_seconds: chain.thresholds.criticalMs / 1_000,
      stalled_seconds: chain.thresholds.stalledMs / 1_000,
    },
    targets: [sampleTargetReport()],
    gaps: [],
    parity: [],
    ...overrides,
  };
}

export function sampleBudget(overrides: Partial<BudgetReport> = {}): BudgetReport {
  const [limit, used, remaining] = [3_000, 2_400, 600];
  return {
    ...{ budget: "studio", endpoint: sampleEndpoint().key, per: "day", limit, used, remaining },
    ...{ detail: null, ...overrides },
  };
}

export function sampleReport({
  chains = [sampleChainReport()],
  ...overrides
}: Partial<Omit<Report, "chains">> & { readonly chains?: readonly ChainReport[] } = {}): Report {
  return {
    generated_at: isoTime(NOW_MS),
    replica: null,
    chains: chains.map(({ targets: _t, gaps: _g, parity: _p, ...chain }) => chain),
    targets: chains.flatMap(({ targets }) => targets),
    gaps: chains.flatMap(({ gaps }) => gaps),
    parity: chains.flatMap(({ parity }) => parity),
    incidents: [],
    budgets: [],
    skipped: [],
    unlisted: [],
    ...overrides,
  };
}
