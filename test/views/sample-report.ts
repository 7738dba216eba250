import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Chain, Endpoint, Target } from "../../src/core/model/fleet.ts";
import {
  type BudgetReport,
  type ChainReport,
  type GapReport,
  type ParityReport,
  type Report,
  type TargetId,
  type TargetReport,
  targetId,
} from "../../src/core/model/report.ts";
import { inSeconds } from "../../src/core/model/text.ts";

/** The parts of a report that the functions below do not fill in. */
interface Samples {
  readonly chain: Chain;
  readonly target: Omit<Target, "key">;
  readonly endpoint: Endpoint;
  readonly targetReport: Omit<TargetReport, keyof TargetId | "explorer" | "playground">;
  readonly gap: Omit<GapReport, keyof TargetId>;
  readonly parity: Omit<ParityReport, keyof TargetId | "against" | "against_key">;
  readonly chainReport: Pick<
    ChainReport,
    "block_interval_seconds" | "reference" | "dispute" | "standings" | "gaps" | "parity"
  >;
  readonly budget: BudgetReport;
  readonly report: Omit<Report, "chains" | "targets" | "gaps" | "parity">;
}

// A fixture of our own: the schemas of the API check reports that are made of it (openapi.test.ts).
const SAMPLES = parse(readFileSync("test/fixtures/sample-report.yaml", "utf8")) as Samples;

/** Tuesday 1 December 2026, 03:12:44 UTC. */
export const NOW_MS = Date.parse(SAMPLES.report.generated_at);

export function sampleChain(overrides: Partial<Chain> = {}): Chain {
  return { ...SAMPLES.chain, ...overrides };
}

export function sampleTarget(overrides: Partial<Omit<Target, "key">> = {}): Target {
  const target = { ...SAMPLES.target, ...overrides };
  return { key: `${target.protocol}/${target.variant}/${target.tier}/${target.chain}`, ...target };
}

export function sampleEndpoint(overrides: Partial<Endpoint> = {}): Endpoint {
  return { ...SAMPLES.endpoint, ...overrides };
}

export function sampleTargetReport({
  target = sampleTarget(),
  ...overrides
}: Partial<TargetReport> & { readonly target?: Target } = {}): TargetReport {
  const { explorer, playground } = target;
  return { ...targetId(target), ...SAMPLES.targetReport, explorer, playground, ...overrides };
}

export function sampleGap({
  target = sampleTarget({ variant: "subgraph" }),
  ...overrides
}: Partial<GapReport> & { readonly target?: Target } = {}): GapReport {
  return { ...targetId(target), ...SAMPLES.gap, ...overrides };
}

export function sampleParity({
  target = sampleTarget({ variant: "subgraph" }),
  rival = sampleTarget(),
  ...overrides
}: Partial<ParityReport> & { readonly target?: Target; readonly rival?: Target } = {}): ParityReport {
  const against = { against: rival.variant, against_key: rival.key };
  return { ...targetId(target), ...against, ...SAMPLES.parity, ...overrides };
}

export function sampleChainReport({
  chain = sampleChain(),
  ...overrides
}: Partial<ChainReport> & { readonly chain?: Chain } = {}): ChainReport {
  const { slug, id: chain_id, name, testnet, explorer, blockTimeMs, thresholds } = chain;
  return {
    ...{ slug, chain_id, name, testnet, explorer, ...SAMPLES.chainReport },
    block_time_seconds: blockTimeMs === null ? null : blockTimeMs / 1_000,
    thresholds: {
      lagging_seconds: inSeconds(thresholds.lagging.ms),
      lagging_blocks: thresholds.lagging.blocks,
      critical_seconds: inSeconds(thresholds.critical.ms),
      critical_blocks: thresholds.critical.blocks,
      stalled_seconds: thresholds.stalledMs / 1_000,
    },
    targets: [sampleTargetReport()],
    ...overrides,
  };
}

export function sampleBudget(overrides: Partial<BudgetReport> = {}): BudgetReport {
  return { ...SAMPLES.budget, ...overrides };
}

export function sampleReport({
  chains = [sampleChainReport()],
  ...overrides
}: Partial<Omit<Report, "chains">> & { readonly chains?: readonly ChainReport[] } = {}): Report {
  const { generated_at, reload_error, replica, ...others } = SAMPLES.report;
  return {
    ...{ generated_at, reload_error, replica },
    chains: chains.map(({ targets: _t, gaps: _g, parity: _p, ...chain }) => chain),
    targets: chains.flatMap(({ targets }) => targets),
    gaps: chains.flatMap(({ gaps }) => gaps),
    parity: chains.flatMap(({ parity }) => parity),
    ...others,
    ...overrides,
  };
}
