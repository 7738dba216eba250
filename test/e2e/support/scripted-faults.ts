import type { Config } from "../../../src/config/config.ts";
import { configErrorIn } from "../../../src/config/yaml/config-error.ts";
import { type ScriptedFault, statusLine } from "./scripted-fault.ts";
import { TARGET_FAULTS } from "./target-faults.ts";

/** A target that is in maintenance, and fails. */
export const IN_MAINTENANCE = "airdrops/subgraph/production/optimism";
/** A target whose budget is cut to what it has used already. */
const SPENT = "airdrops/subgraph/testing/chiliz";

/** The fleet's configuration for the test: one chain without a node, and one target in maintenance. */
export function withTraps(config: Config): Config {
  const [protocol = "", variant = "", tier = "", chain = ""] = IN_MAINTENANCE.split("/");
  return {
    ...config,
    maintenance: [
      { kind: "once", match: { protocol, variant, tier, chain }, fromMs: 0, toMs: Date.now() + 86_400_000 },
    ],
    fleet: {
      ...config.fleet,
      rpcEndpoints: config.fleet.rpcEndpoints.filter(({ chain: slug }) => slug !== "zksync"),
    },
  };
}

/** All faults at once, each on a protocol and chain of its own, or on an indexer that no other one needs. */
export const FAULTS: readonly ScriptedFault[] = [
  ...TARGET_FAULTS,
  {
    what: "both indexers of a chain answer 503",
    alert: "SynclagNoVariantOk",
    severity: "critical",
    labels: { protocol: "airdrops", chain: "blast" },
    summary: "airdrops on blast: no usable variant",
    description: / subgraph \(production\): unreachable.* subgraph \(testing\): unreachable/,
    on: "fleet",
    line: statusLine("airdrops/subgraph/production/blast", "unreachable"),
    inject: ({ fleet: { fleet } }) => {
      for (const endpoint of fleet.endpoints("airdrops/subgraph/*/blast")) {
        endpoint.fail("http_503");
      }
    },
  },
  {
    what: "all indexers of a chain that no node is asked of stand still",
    alert: "SynclagAllVariantsStalled",
    severity: "critical",
    labels: { protocol: "airdrops", chain: "zksync" },
    summary: "airdrops on zksync: all 3 responding variants have stopped advancing",
    description: /No node of the chain is polled.* multichain \(production\): stalled/,
    on: "fleet",
    line: statusLine("airdrops/subgraph/production/zksync", "stalled"),
    inject: ({ fleet: { fleet } }) => {
      // As of what freezes: no gateway whose machines take turns.
      fleet.target("airdrops/subgraph/production/zksync").set({ replicas: 1 });
      fleet.chain("zksync").halt();
    },
  },
  {
    what: "… of the other protocol, too",
    alert: "SynclagAllVariantsStalled",
    severity: "critical",
    labels: { protocol: "lockup", chain: "zksync" },
    summary: "lockup on zksync: all 2 responding variants have stopped advancing",
    description: /No node of the chain is polled.* subgraph \(testing\): stalled/,
    on: "fleet",
    line: statusLine("lockup/multichain/production/zksync", "stalled"),
    inject: null,
  },
  {
    what: "a chain halts",
    alert: "SynclagChainHalted",
    severity: "warning",
    labels: { chain: "arbitrum-sepolia" },
    summary: "Chain arbitrum-sepolia has halted",
    description: /An independent node shows that chain arbitrum-sepolia \(id 421614\)/,
    on: "fleet",
    line: statusLine("airdrops/subgraph/testing/arbitrum-sepolia", "chain_halted"),
    inject: ({ fleet }) => fleet.fleet.chain("arbitrum-sepolia").halt(),
  },
  {
    what: "a gateway no longer knows our key",
    alert: "SynclagKeyRejected",
    severity: "critical",
    labels: { protocol: "lockup", variant: "subgraph", tier: "production" },
    summary: "lockup subgraph (production) rejects our API key",
    description: /rejects our key on \d\d chains/,
    on: "fleet",
    line: statusLine("lockup/subgraph/production/base", "rejected"),
    inject: ({ fleet: { fleet } }) => {
      for (const endpoint of fleet.endpoints("lockup/subgraph/production/*")) {
        if (!/\/(form|lightlink|xdc)$/.test(endpoint.key)) {
          endpoint.fail("unknown_key");
        }
      }
    },
  },
  {
    what: "… and the objective of an hour is missed where nothing else serves users",
    alert: "SynclagFreshnessBurnsFast",
    severity: "critical",
    labels: { protocol: "lockup" },
    summary: "lockup: the freshness objective is burning fast",
    description: /^Only [\d.]+% of the chain time of lockup was fresh/,
    on: "fleet",
    line: statusLine("lockup/subgraph/production/blast", "rejected"),
    inject: null,
  },
  {
    what: "a multi-chain indexer all but stops on all of its chains",
    alert: "SynclagSharedCause",
    severity: "warning",
    labels: { protocol: "airdrops", variant: "multichain", tier: "production" },
    summary: "airdrops multichain (production): one cause on many chains",
    description: /Active: endpoint airdrops\/multichain\/production\./,
    on: "fleet",
    line: 'synclag_incident_active{scope="endpoint",subject="airdrops/multichain/production"} 1',
    inject: ({ fleet: { fleet } }) => {
      for (const target of fleet.targets("airdrops/multichain/production/*")) {
        target.slow(0.15);
      }
    },
  },
  {
    what: "… and passes the critical limit",
    alert: "SynclagSharedCause",
    severity: "critical",
    labels: { protocol: "airdrops", variant: "multichain", tier: "production" },
    summary: "airdrops multichain (production): one cause on many chains",
    description: /Active: endpoint airdrops\/multichain\/production\./,
    on: "fleet",
    line: 'synclag_incident_active{scope="endpoint",subject="airdrops/multichain/production"} 1',
    inject: null,
  },
  {
    what: "… and polygon's other indexer is down already",
    alert: "SynclagEndpointDown",
    severity: "critical",
    labels: { protocol: "airdrops", variant: "subgraph", tier: "production", chain: "polygon" },
    summary: "airdrops on polygon: subgraph (production) gives no usable answer",
    description:
      /no other variant that users are served from is fresh\. .* No variant that users are served from is fresh\.$/,
    on: "fleet",
    line: statusLine("airdrops/multichain/production/polygon", "lagging"),
    inject: null,
  },
  ...["morph", "sophon", "superseed", "tangle"].map(
    (chain): ScriptedFault => ({
      what: `… and ${chain} has no other variant`,
      alert: "SynclagNoVariantOk",
      severity: "critical",
      labels: { protocol: "airdrops", chain },
      summary: `airdrops on ${chain}: no usable variant`,
      description: / multichain \(production\): (lagging|stalled), [\d.ms ]+ behind\.$/,
      on: "fleet",
      line: statusLine(`airdrops/multichain/production/${chain}`, "lagging"),
      inject: null,
    }),
  ),
  {
    what: "… and the objective of an hour is missed",
    alert: "SynclagFreshnessBurnsFast",
    severity: "critical",
    labels: { protocol: "airdrops" },
    summary: "airdrops: the freshness objective is burning fast",
    description: /^Only [\d.]+% of the chain time of airdrops was fresh\. The objective is 99\.5 %/,
    on: "fleet",
    line: statusLine("airdrops/multichain/production/sophon", "lagging"),
    inject: null,
  },
  {
    what: "a budget is spent",
    alert: "SynclagBudgetExhausted",
    severity: "warning",
    labels: { budget: "small", endpoint: "chiliz", chain: "chiliz" },
    summary: "Budget small (chiliz airdrops subgraph testing) is used up",
    description: /is used up: its endpoints are not polled/,
    on: "fleet",
    line: statusLine(SPENT, "throttled"),
    inject: ({ fleet }) => fleet.reloadWith(() => withSpentBudget(fleet.config)),
  },
  {
    what: "a configuration is refused",
    alert: "SynclagConfigReloadFailed",
    severity: "warning",
    labels: {},
    summary: /^Synclag on 127\.0\.0\.1:\d+ runs with an old configuration$/,
    description: /The last reload on 127\.0\.0\.1:\d+ failed/,
    on: "spare",
    line: "synclag_config_last_reload_successful 0",
    inject: ({ spare }) =>
      spare.reloadWith(() => {
        throw configErrorIn("chains.yaml", {
          problems: [{ line: 1, column: 1, path: [], message: "is not what was expected" }],
        });
      }),
  },
  {
    what: "Synclag's own network goes away, another Synclag's does not",
    alert: "SynclagNetworkDown",
    severity: "warning",
    labels: {},
    summary: /^Synclag on 127\.0\.0\.1:\d+ reaches no endpoint$/,
    description: /No indexer and no node on any host answers/,
    on: "spare",
    line: 'synclag_incident_active{scope="network",subject="all"} 1',
    inject: async ({ spare: { fleet } }) => {
      await Promise.all(fleet.origins.map((origin) => origin.close()));
    },
  },
  {
    what: "a loop gets stuck, another Synclag's does not",
    alert: "SynclagPollLoopStuck",
    severity: "warning",
    labels: {},
    summary: /^Synclag on 127\.0\.0\.1:\d+ has stopped polling$/,
    description: /last ticked 1m \d+\.?\d*s ago/,
    on: "stuck",
    line: null,
    inject: ({ stuck }) => stuck.freezeClock(),
  },
];

/** What else may come, and is no fault of the rules. */
export const TOLERATED: readonly {
  readonly alert: string;
  readonly chains: readonly string[];
  readonly why: string;
}[] = [
  {
    alert: "SynclagIndexerStalled",
    chains: ["zksync"],
    why: "variants of a halted chain are found to stand still one by one",
  },
  {
    alert: "SynclagVariantsApart",
    chains: ["ethereum", "sepolia"],
    why: "three blocks of a slow chain are a limit that no scale of time shortens",
  },
];

function withSpentBudget(config: Config): Config {
  return {
    ...config,
    fleet: {
      ...config.fleet,
      budgets: [...config.fleet.budgets, { name: "small", limit: 1, per: "day", scope: "endpoint" }],
      indexers: config.fleet.indexers.map((indexer) => ({
        ...indexer,
        endpoints: indexer.endpoints.map((endpoint) =>
          endpoint.key === SPENT ? { ...endpoint, budget: "small" } : endpoint,
        ),
      })),
    },
  };
}
