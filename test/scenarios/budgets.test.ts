import { describe, expect, it } from "vitest";
import { FAULTS, halfOf } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const BASE = "airdrops/subgraph/production/base";
const MODE = "airdrops/subgraph/production/mode";
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function chainsYaml(limit: number, scope: string): string {
  return `
version: 1
budgets: { plan: { limit: ${limit}, per: hour, scope: ${scope} } }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", budget: plan, schedule: "0 * * * * *", chains: [base, mode] }
`;
}

// What is said of budgets, and how a provider is heeded that asks to wait, is in test/fixtures/daemon-stories/budgets.txt.
describe("a budget", () => {
  it.each([
    // In one hour each endpoint is polled 60 times, and 62.5 polls count in the window of an hour.
    { scope: "endpoint", most: 60 },
    { scope: "shared", most: 120 },
  ])("of scope $scope is never exceeded, though every poll is retried", async ({ scope, most }) => {
    await using play = await startScenario(chainsYaml(most, scope));
    for (const endpoint of play.fleet.endpoints("airdrops/subgraph/*/*")) {
      endpoint.fail(halfOf(FAULTS.http_502));
    }

    await play.run("66m");

    const accounts = scope === "shared" ? [[BASE, MODE]] : [[BASE], [MODE]];
    for (const account of accounts) {
      const count = mostWithin(play, account, HOUR_MS);
      expect(count).toBeLessThanOrEqual(most);
      expect(count).toBeGreaterThan(most * 0.9);
    }
  });

  it("spends on retries and confirmation polls only what the schedule leaves", async () => {
    await using play = await startScenario(chainsYaml(80, "endpoint"));
    await play.run("10m");
    play.fleet.endpoint(BASE).fail(FAULTS.http_502);

    await play.run("45m");

    const minutes = play.received
      .filter(({ endpoint, atMs }) => endpoint === BASE && atMs > 10 * MINUTE_MS)
      .map(({ atMs }) => Math.floor(atMs / MINUTE_MS));
    expect(minutes.length).toBeGreaterThan(50);
    // No scheduled poll was left out for them.
    expect(new Set(minutes).size).toBe(45);
    // A retry that the budget refused is not why the poll failed.
    expect(play.target(BASE)).toMatchObject({ status: "unreachable", reason: "http_status" });
  });
});

/** The most requests to these endpoints that any window of this length has. */
function mostWithin({ received }: Scenario, endpoints: readonly string[], windowMs: number): number {
  const times = received.filter(({ endpoint }) => endpoints.includes(endpoint)).map(({ atMs }) => atMs);
  let first = 0;
  return Math.max(
    ...times.map((atMs, index) => {
      while ((times[first] ?? 0) <= atMs - windowMs) {
        first += 1;
      }
      return index - first + 1;
    }),
  );
}

describe("a paid RPC node", () => {
  const PAID = "https://paid.example/base";
  const OTHER = "https://other.example/base";
  const CHAINS_YAML = `
version: 1
poll: { retries: 0 }
budgets: { nodes: { limit: 100, per: hour, scope: endpoint } }
chains:
  base:
    id: 8453
    block_time: 2s
    rpc:
      - { url: "${PAID}", headers: { X-Key: "\${NODE_KEY}" }, budget: nodes, schedule: auto }
      - { url: "${OTHER}", budget: nodes, schedule: "0 */5 * * * *" }
      - "https://free.example/base"
protocols:
  airdrops:
    - { variant: first, dialect: graph, url: "https://first.example/", schedule: "0 * * * * *", chains: [base] }
    - { variant: second, dialect: graph, url: "https://second.example/", schedule: "0 * * * * *", chains: [base] }
`;
  const NODE_KEY = "paid-key-of-the-node";
  const keyOf = (host: string): unknown => expect.stringMatching(`^rpc/base/${host}.example/[0-9a-f]{12}$`);

  it("is planned, and counts every request, including those for the chain id and for disputed blocks", async () => {
    await using play = await startScenario(CHAINS_YAML, { env: { NODE_KEY } });
    await play.run("10m");
    play.fleet.target("airdrops/second/production/base").set({ fork: "other" });
    play.setHost("free.example", "down");
    await play.run("20m");

    const toNodes = play.received.filter(({ endpoint }) => endpoint.startsWith("rpc/base/"));
    const sentTo = (host: string) => toNodes.filter(({ endpoint }) => endpoint.includes(host));
    expect(play.plan().replace(/ +/g, " ")).toContain(
      "rpc 1 60 s 1,440 60% of nodes each 3 min\nrpc 1 5 min 288 12% of nodes each 15 min\nrpc 1 30 s 2,880 none 100 s",
    );
    expect(play.planPage()).toMatch(/rpc\/ base\/ paid\.example\/ \w+ nodes, 100 an hour 32 68/);
    expect(play.report().budgets).toMatchObject([
      { endpoint: keyOf("paid"), used: sentTo("paid").length },
      { endpoint: keyOf("other"), used: sentTo("other").length },
    ]);
    const beside = [...sentTo("paid"), ...sentTo("other")].filter(({ body }) => !body.includes("latest"));
    const methods = new Set(beside.map(({ body }) => /eth_\w+/.exec(body)?.[0]));
    expect([...methods].sort()).toEqual(["eth_chainId", "eth_getBlockByNumber"]);
    // Both nodes have the labels of their chain: what counts is the fuller account.
    const series = 'budget="nodes",protocol="",variant="rpc",tier="",endpoint="base"';
    const budgetLines = play.metrics().match(/^synclag_budget_used\{.*$/gm);
    expect(budgetLines).toEqual([`synclag_budget_used{${series}} ${sentTo("paid").length}`]);
  });

  it("is sent its own headers alone, which nothing shows", async () => {
    await using play = await startScenario(CHAINS_YAML, {
      env: { NODE_KEY },
      prepare: (fleet) =>
        fleet.endpoint("rpc/base/paid.example/*").fail({ status: 403, body: `no such key: ${NODE_KEY}` }),
    });
    await play.run("5m");

    const withKey = play.received.filter(({ headers }) => Object.values(headers).includes(NODE_KEY));
    expect([...new Set(withKey.map(({ endpoint }) => endpoint))]).toEqual([keyOf("paid")]);
    expect(play.page("base")).toContain("no such key: ");
    expect(play.page("base")).toContain("$NODE_KEY");
    const shown = [play.page("base"), play.planPage(), play.plan("json"), play.metrics()];
    const said = [...shown, JSON.stringify(play.report()), JSON.stringify(play.log)];
    expect(said.filter((text) => text.includes(NODE_KEY))).toEqual([]);
  });
});
