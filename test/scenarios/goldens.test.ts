import { describe, expect, it } from "vitest";
import { STATUSES } from "../../src/core/model/report.ts";
import { FAULTS } from "../support/faults.ts";
import { expectGolden } from "../support/golden.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

// `UPDATE_GOLDENS=1 npx vitest run test/scenarios/goldens.test.ts` writes what the product says now.

const CHAINS = `
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://base-node.example/rpc"] }
  gnosis: { id: 100, name: Gnosis, block_time: 5s }
  arbitrum: { id: 42161, name: Arbitrum One, block_time: 0.25s, rpc: ["https://arbitrum-node.example/rpc"] }
  sepolia: { id: 11155111, name: Sepolia, block_time: 12s, testnet: true }`;
const NEW_CHAIN = "\n  tangle: { id: 5845, name: Tangle }";
const WIDE_TRIAL = "{ limit: 1000, per: hour, scope: endpoint }";
const NARROW_TRIAL = "{ limit: 12, per: hour, scope: endpoint }";
const FLEET = `
version: 1
thresholds: { lagging: 2m, critical: 5m, stalled: 2m }
budgets:
  gateway: { limit: 1000000, per: month, scope: shared }
  studio: { limit: 3000, per: day, scope: endpoint }
  trial: ${WIDE_TRIAL}
chains:${CHAINS}
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/15 * * * * *", explorer: "https://explorer.example/airdrops", chains: [base, gnosis, arbitrum, sepolia] }
    - { variant: subgraph, dialect: graph, url: "https://gateway.example/subgraphs/name/airdrops-{chain}", budget: gateway, schedule: "0 * * * * *", chains: [base, gnosis, arbitrum] }
    - { variant: subgraph, tier: testing, dialect: graph, url: "https://studio.example/subgraphs/name/airdrops-{chain}", budget: studio, schedule: "0 * * * * *", chains: [base, gnosis, sepolia] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://lockup.example/v1/graphql", schedule: "*/15 * * * * *", chains: [base, gnosis] }
    - { variant: subgraph, dialect: graph, url: "https://gateway.example/subgraphs/name/lockup-{chain}", budget: gateway, schedule: "0 * * * * *", chains: [base, gnosis] }
    - { variant: mirror, dialect: ponder, url: "https://mirror.example/lockup/graphql", schedule: "*/30 * * * * *", chains: [base, gnosis] }
  flow:
    - { variant: squid, dialect: squid, url: "https://squid.example/flow/graphql", budget: trial, schedule: "0 */6 * * * *", chains: [gnosis] }
    - { variant: subgraph, dialect: graph, url: "https://gateway.example/subgraphs/name/flow-{chain}", optional: true, headers: { Authorization: "Bearer \${FLOW_API_KEY}" }, chains: [gnosis] }
parity:
  - name: campaigns
    protocol: airdrops
    every: 1m
    chains: [base]
    queries:
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }
      subgraph: { select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }
maintenance:
  - { match: { chain: sepolia }, from: 2026-11-20T03:05:00Z, to: 2026-11-20T06:00:00Z }
`;

describe("a fleet in which each status occurs", () => {
  it("is shown as in its goldens", async () => {
    const fast = FLEET.replace("0 */6 * * * *", "*/15 * * * * *");
    await using play = await startScenario(fast);
    const { fleet } = play;
    await play.run("5m");
    fleet.target("lockup/subgraph/production/base").slow(0.2);
    fleet.target("airdrops/subgraph/production/base").skipEvents(1);
    fleet.target("airdrops/subgraph/testing/base").freeze();
    fleet.chain("arbitrum").halt();
    fleet.target("lockup/mirror/production/base").set({ offsetBlocks: 30_000_000 });
    fleet.target("lockup/subgraph/production/gnosis").set({ indexingErrors: true, deployment: "QmNew" });
    fleet.target("lockup/multichain/production/gnosis").set({ rows: 0 });
    fleet
      .target("lockup/mirror/production/gnosis")
      .reindex({ backBlocks: 500_000, withinMs: 10 * 3_600_000 });
    fleet.endpoint("airdrops/subgraph/production/gnosis").fail(FAULTS.unknown_key);
    fleet.endpoint("airdrops/subgraph/testing/gnosis").fail(FAULTS.subgraph_not_found);
    fleet.endpoint("airdrops/subgraph/testing/sepolia").fail(FAULTS.http_503);
    await play.run("4m");
    // The budget is now spent more than twice over.
    await play.reload(FLEET.replace(WIDE_TRIAL, NARROW_TRIAL));
    await play.run("12m");
    await play.reload(
      FLEET.replace(WIDE_TRIAL, NARROW_TRIAL)
        .replace(CHAINS, CHAINS + NEW_CHAIN)
        .replace("arbitrum, sepolia]", "arbitrum, sepolia, tangle]"),
    );

    const shown = new Set(play.status().targets.map(({ status }) => status));
    expect([...shown].sort()).toEqual([...STATUSES].sort());
    expectTexts(play, "every-status", "base");
    expectGolden("test/goldens/every-status.status.json", `${JSON.stringify(play.status(), null, 2)}\n`);
    expectGolden("test/goldens/every-status.metrics.txt", play.metrics());
    expectGolden(
      "test/goldens/every-status.plan.txt",
      `${play.plan()}\n\n${play.planPage()}\n\n${play.plan("json")}\n`,
    );
  });
});

describe("failures with one cause", () => {
  it("are shown as in their goldens", async () => {
    await using play = await startScenario(FLEET);
    const { fleet } = play;
    await play.run("5m");
    play.setHost("gateway.example", "down");
    fleet.endpoint("airdrops/multichain/production/all").fail(FAULTS.hang_before_headers);
    await play.run("5m");
    expectTexts(play, "one-cause", "gnosis");

    for (const host of ["envio", "studio", "lockup", "mirror", "squid", "base-node", "arbitrum-node"]) {
      play.setHost(`${host}.example`, "down");
    }
    await play.run("5m");
    expectTexts(play, "own-network-down", "base");
  });
});

function expectTexts(play: Scenario, name: string, chain: string): void {
  const { text, exitCode } = play.check();
  expectGolden(`test/goldens/${name}.check.txt`, `${text}\nexit code ${exitCode}\n`);
  expectGolden(`test/goldens/${name}.page.txt`, `${play.page()}\n`);
  expectGolden(`test/goldens/${name}.chain.txt`, `${play.page(chain)}\n`);
}
