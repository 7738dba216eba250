import type { Chain } from "../../src/core/model/fleet.ts";
import type { BudgetReport, ChainReport, Report, TargetReport } from "../../src/core/model/report.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleEndpoint,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

interface Listed {
  readonly slug: string;
  readonly name: string;
  readonly id: number;
  readonly variants: "both" | "multichain" | "subgraph";
  readonly testnet?: boolean;
}

const CHAINS: readonly Listed[] = [
  { slug: "abstract", name: "Abstract", id: 2741, variants: "subgraph" },
  { slug: "arbitrum", name: "Arbitrum One", id: 42161, variants: "both" },
  { slug: "arbitrum-sepolia", name: "Arbitrum Sepolia", id: 421614, variants: "both", testnet: true },
  { slug: "avalanche", name: "Avalanche", id: 43114, variants: "both" },
  { slug: "base", name: "Base", id: 8453, variants: "both" },
  { slug: "base-sepolia", name: "Base Sepolia", id: 84532, variants: "both", testnet: true },
  { slug: "berachain", name: "Berachain", id: 80094, variants: "subgraph" },
  { slug: "blast", name: "Blast", id: 81457, variants: "subgraph" },
  { slug: "bsc", name: "BNB Smart Chain", id: 56, variants: "both" },
  { slug: "chiliz", name: "Chiliz Chain", id: 88888, variants: "both" },
  { slug: "ethereum", name: "Ethereum", id: 1, variants: "both" },
  { slug: "form", name: "Form Network", id: 478, variants: "subgraph" },
  { slug: "gnosis", name: "Gnosis", id: 100, variants: "both" },
  { slug: "iotex", name: "IoTeX", id: 4689, variants: "subgraph" },
  { slug: "lightlink", name: "LightLink Phoenix Mainnet", id: 1890, variants: "subgraph" },
  { slug: "linea", name: "Linea Mainnet", id: 59144, variants: "both" },
  { slug: "mode", name: "Mode Mainnet", id: 34443, variants: "both" },
  { slug: "optimism", name: "OP Mainnet", id: 10, variants: "both" },
  { slug: "optimism-sepolia", name: "OP Sepolia", id: 11155420, variants: "both", testnet: true },
  { slug: "polygon", name: "Polygon", id: 137, variants: "both" },
  { slug: "scroll", name: "Scroll", id: 534352, variants: "both" },
  { slug: "sei", name: "Sei Network", id: 1329, variants: "subgraph" },
  { slug: "sepolia", name: "Sepolia", id: 11155111, variants: "both", testnet: true },
  { slug: "unichain", name: "Unichain", id: 130, variants: "subgraph" },
  { slug: "xdc", name: "XDC Network", id: 50, variants: "subgraph" },
  { slug: "zksync", name: "ZKsync Era", id: 324, variants: "both" },
  { slug: "morph", name: "Morph", id: 2818, variants: "multichain" },
  { slug: "sophon", name: "Sophon", id: 50104, variants: "multichain" },
  { slug: "superseed", name: "Superseed", id: 5330, variants: "multichain" },
  { slug: "tangle", name: "Tangle", id: 5845, variants: "multichain" },
];

const WITHOUT_TESTING_URL = ["form", "lightlink", "xdc"];

/** What goes wrong in the sample, by target key. */
const TROUBLES: Readonly<Record<string, Partial<TargetReport>>> = {
  "lockup/subgraph/production/base": {
    status: "stalled",
    detail: "Has not advanced for 41 min while Base produced 1,230 blocks",
    lagMs: 41 * MINUTE_MS,
    lagBlocks: 1230,
    lastAdvanceMs: NOW_MS - 41 * MINUTE_MS,
  },
  "airdrops/subgraph/production/berachain": {
    status: "failed",
    reason: "indexing_error",
    up: false,
    detail:
      "The subgraph reports a failed deployment: handler `handleClaim` aborted at block 12,345,678 <mapping.ts>",
    lagMs: 3.3 * 60 * MINUTE_MS,
    lagBlocks: 5940,
    lastAdvanceMs: NOW_MS - 200 * MINUTE_MS,
  },
  "lockup/multichain/production/morph": {
    status: "missing",
    up: false,
    detail: "The answer names 20 chains, and 2818 is not among them",
    block: null,
    lagMs: null,
    lagBlocks: null,
  },
  "lockup/subgraph/testing/polygon": {
    status: "throttled",
    reason: "rate_limited",
    up: false,
    detail: "HTTP 429, and asks to wait 61 s",
    lagMs: 95_000,
    lagBlocks: 47,
  },
  "airdrops/subgraph/testing/sei": {
    status: "lagging",
    detail: "12 min behind the reference, and catching up",
    lagMs: 12 * MINUTE_MS,
    lagBlocks: 1800,
  },
  "airdrops/multichain/production/tangle": {
    status: "syncing",
    detail: "Back-filling: 61 % of the way, done in about 2 h",
    lagMs: 31 * 24 * 60 * MINUTE_MS,
    lagBlocks: 446_400,
  },
  "airdrops/subgraph/testing/sepolia": {
    status: "unreachable",
    reason: "timeout",
    up: false,
    detail: "No answer within 10 s",
    lagMs: null,
    lagBlocks: null,
    block: null,
  },
  "airdrops/subgraph/testing/unichain": {
    status: "unknown",
    detail: "Not polled yet",
    up: false,
    lagMs: null,
    lagBlocks: null,
    block: null,
    lastSuccessMs: null,
    lastAdvanceMs: null,
  },
};

/** 30 chains and 140 targets, most of them ok. */
export function defaultFleetReport(overrides: Partial<Report> = {}): Report {
  const chains = CHAINS.map(listedChain);
  return sampleReport({
    chains,
    budgets: budgetsOf(chains),
    skipped: [{ protocol: "flow", variant: "subgraph", tier: "production", why: "FLOW_API_KEY is not set" }],
    ...overrides,
  });
}

function listedChain({ slug, name, id, variants, testnet = false }: Listed, index: number): ChainReport {
  const chain = sampleChain({ slug, name, id, testnet });
  const tiers = WITHOUT_TESTING_URL.includes(slug) ? ["production"] : ["production", "testing"];
  const kinds = [
    variants === "subgraph" ? [] : [{ variant: "multichain", tier: "production" }],
    variants === "multichain" ? [] : tiers.map((tier) => ({ variant: "subgraph", tier })),
  ].flat();
  const targets = ["airdrops", "lockup"].flatMap((protocol) =>
    kinds.map((kind) => listedTarget(chain, { protocol, ...kind }, index)),
  );
  const gaps = targets
    .filter(({ target }) => target.variant === "subgraph" && variants === "both")
    .map(({ target, lagBlocks }) => sampleGap({ target, blocks: (lagBlocks ?? 2) - 1, seconds: null }));
  return sampleChainReport({ chain, targets, gaps });
}

function listedTarget(
  chain: Chain,
  named: { readonly protocol: string; readonly variant: string; readonly tier: string },
  index: number,
): TargetReport {
  const target = sampleTarget({
    ...named,
    chain: chain.slug,
    chainId: chain.id,
    explorer: `https://explorer.example/${named.protocol}/${chain.slug}`,
    playground: `https://playground.example/?endpoint=${chain.slug}`,
  });
  const lagMs = (index % 7) * 900;
  return sampleTargetReport({
    target,
    lagMs,
    lagBlocks: Math.round(lagMs / 2000),
    preferred: named.variant === "multichain",
    ...TROUBLES[target.key],
  });
}

function budgetsOf(chains: readonly ChainReport[]): readonly BudgetReport[] {
  const gateway = { name: "gateway", limit: 100_000, per: "month", scope: "shared" } as const;
  const studio = { name: "studio", limit: 3000, per: "day", scope: "endpoint" } as const;
  const testing = chains.flatMap(({ targets }) => targets.filter(({ target }) => target.tier === "testing"));
  const each = testing.map(({ target }, index) => ({
    budget: studio,
    endpoint: sampleEndpoint({ key: target.key }),
    limit: 3000,
    used: 2400 + index * 9,
    remaining: 600 - index * 9,
  }));
  return [{ budget: gateway, endpoint: null, limit: 100_000, used: 41_233, remaining: 58_767 }, ...each];
}
