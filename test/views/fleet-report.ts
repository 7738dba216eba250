import type { Report, TargetReport } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import {
  NOW_MS,
  sampleBudget,
  sampleChain,
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

const CHAINS = [
  { slug: "base", name: "Base", id: 8453 },
  { slug: "berachain", name: "Berachain", id: 80094 },
  { slug: "morph", name: "Morph", id: 2818 },
  { slug: "polygon", name: "Polygon", id: 137 },
  { slug: "sei", name: "Sei Network", id: 1329 },
  { slug: "tangle", name: "Tangle", id: 5845 },
  { slug: "base-sepolia", name: "Base Sepolia", id: 84532, testnet: true },
  { slug: "sepolia", name: "Sepolia", id: 11155111, testnet: true },
];
const KINDS = [
  { variant: "multichain", tier: "production" },
  { variant: "subgraph", tier: "production" },
  { variant: "subgraph", tier: "testing" },
];
const NO_HEIGHT = { up: false, block_number: null, lag_seconds: null, lag_blocks: null };

/** What goes wrong, by target key. */
const TROUBLES: Readonly<Record<string, Partial<TargetReport>>> = {
  "lockup/subgraph/production/base": {
    status: "stalled",
    detail: "Has not advanced for 41 min while Base produced 1,230 blocks",
    lag_seconds: 41 * 60,
    lag_blocks: 1230,
  },
  "airdrops/subgraph/production/berachain": {
    status: "failed",
    reason: "indexing_error",
    detail: "The indexer reports a failed deployment: handler `handleClaim` aborted <mapping.ts>",
    lag_seconds: 3.3 * 3600,
    lag_blocks: 5940,
  },
  "lockup/multichain/production/morph": { status: "missing", detail: "The answer lacks it", ...NO_HEIGHT },
  "lockup/subgraph/production/morph": { status: "failed", detail: "A handler aborted" },
  "lockup/subgraph/testing/polygon": { status: "throttled", reason: "rate_limited", detail: "HTTP 429" },
  "airdrops/subgraph/testing/sei": {
    status: "lagging",
    detail: "12 min behind the reference",
    lag_seconds: 12 * 60,
    lag_blocks: 360,
  },
  "airdrops/multichain/production/tangle": { status: "syncing", detail: "Back-filling", lag_blocks: 446_400 },
  "airdrops/subgraph/testing/sepolia": { status: "unreachable", reason: "timeout", ...NO_HEIGHT },
  "airdrops/subgraph/testing/base-sepolia": { status: "unknown", detail: "not polled yet", ...NO_HEIGHT },
};

/** Two protocols on eight chains: 48 targets, most of them ok. */
export function fleetReport(): Report {
  const chains = CHAINS.map((named) => {
    const targets = ["airdrops", "lockup"].flatMap((protocol) =>
      KINDS.map((kind) => sampleTarget({ protocol, ...kind, chain: named.slug, chainId: named.id })),
    );
    const behind = targets.filter(({ variant }) => variant === "subgraph");
    return sampleChainReport({
      chain: sampleChain(named),
      targets: targets.map((target) => sampleTargetReport({ target, ...TROUBLES[target.key] })),
      gaps: behind.map((target) => sampleGap({ target, seconds: null })),
    });
  });
  return sampleReport({
    chains,
    incidents: [
      {
        scope: "chain",
        subject: "base",
        since: isoTime(NOW_MS),
        detail: "All are late",
        targets: [sampleTarget().key],
      },
    ],
    budgets: [sampleBudget()],
    skipped: [{ protocol: "flow", variant: "subgraph", tier: "production", why: "FLOW_API_KEY is not set" }],
  });
}
