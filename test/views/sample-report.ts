import type { Chain, Endpoint, Target } from "../../src/core/model/fleet.ts";
import type {
  ChainReport,
  GapReport,
  ParityReport,
  Report,
  TargetReport,
} from "../../src/core/model/report.ts";

/** Tuesday 1 December 2026, 03:12:44 UTC. */
export const NOW_MS = Date.UTC(2026, 11, 1, 3, 12, 44);

export const MINUTE_MS = 60_000;

export function sampleChain(overrides: Partial<Chain> = {}): Chain {
  return {
    slug: "base",
    id: 8453,
    name: "Base",
    blockTimeMs: 2000,
    testnet: false,
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
export function sampleTargetReport(overrides: Partial<TargetReport> = {}): TargetReport {
  return {
    target: sampleTarget(),
    status: "ok",
    reason: null,
    detail: "4 s behind the reference",
    up: true,
    block: 38_000_000,
    blockTimestampSec: NOW_MS / 1000 - 6,
    lagBlocks: 2,
    lagMs: 4000,
    lagExtrapolated: false,
    lastSuccessMs: NOW_MS - 2000,
    lastAdvanceMs: NOW_MS - 2000,
    indexingErrors: false,
    deployment: "QmSample",
    deploymentChanges: 0,
    regressions: { reorg: 0, reindex: 0 },
    preferred: false,
    maintenance: false,
    ...overrides,
  };
}

export function sampleGap(overrides: Partial<GapReport> = {}): GapReport {
  return {
    target: sampleTarget({ variant: "subgraph" }),
    against: "multichain",
    blocks: 1240,
    seconds: 2480,
    uncertaintyBlocks: 0.5,
    ...overrides,
  };
}

/** The subgraph lacks two rows that multichain has. */
export function sampleParity(overrides: Partial<ParityReport> = {}): ParityReport {
  return {
    probe: "campaigns",
    target: sampleTarget({ variant: "subgraph" }),
    against: sampleTarget(),
    result: "different",
    compared: { block: 37_999_990, value: "6141", againstValue: "6143", difference: 2 },
    sinceMs: NOW_MS - 20 * MINUTE_MS,
    lastComparisonMs: NOW_MS - MINUTE_MS,
    odd: null,
    latest: {
      target: { block: 37_999_990, value: "6141", readMs: NOW_MS - MINUTE_MS },
      against: { block: 37_999_992, value: "6143", readMs: NOW_MS - MINUTE_MS },
    },
    detail: "differs from multichain for 20 min: 6141 here and 6143 there at block 37,999,990",
    ...overrides,
  };
}

export function sampleChainReport(overrides: Partial<ChainReport> = {}): ChainReport {
  return {
    chain: sampleChain(),
    reference: { block: 38_000_002, sources: 3, members: [], opposed: [], timeMs: NOW_MS - 2000 },
    standings: [],
    dispute: null,
    blockIntervalMs: 2003,
    targets: [sampleTargetReport()],
    gaps: [],
    parity: [],
    ...overrides,
  };
}

export function sampleReport(overrides: Partial<Report> = {}): Report {
  return {
    generatedAtMs: NOW_MS,
    chains: [sampleChainReport()],
    incidents: [],
    budgets: [],
    skipped: [],
    ...overrides,
  };
}
