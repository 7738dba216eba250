import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAULTS, halfOf } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const BASE = "airdrops/subgraph/production/base";
const MODE = "airdrops/subgraph/production/mode";
const HOUR_MS = 3_600_000;

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

// test/fixtures/daemon-stories/budgets.txt tests what Synclag says about budgets, and how it waits when a provider asks for that.
describe("a budget", () => {
  it.each([
    // In one hour each endpoint is polled 60 times, and 62.5 polls count in the window of an hour.
    { scope: "endpoint", most: 60 },
    { scope: "shared", most: 120 },
  ])("of scope $scope is never exceeded, even if every poll is retried", async ({ scope, most }) => {
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

// test/fixtures/daemon-stories/paid-nodes.txt shows that its requests count.
describe("a paid RPC node", () => {
  it("is sent only its own headers, which no output shows", async () => {
    const key = "paid-key-of-the-node";
    const yaml = readFileSync("test/fixtures/daemon-stories/paid-nodes.yaml", "utf8");
    const withHeader = yaml.replace(
      'paid.example/base",',
      `paid.example/base", headers: { X-Key: "\${NODE_KEY}" },`,
    );
    await using play = await startScenario(withHeader, {
      env: { NODE_KEY: key },
      prepare: (fleet) =>
        fleet.endpoint("rpc/base/paid.example/*").fail({ status: 403, body: `no such key: ${key}` }),
    });
    await play.run("5m");

    const withKey = play.received.filter(({ headers }) => Object.values(headers).includes(key));
    expect([...new Set(withKey.map(({ endpoint }) => endpoint.replace(/\w+$/, "")))]).toEqual([
      "rpc/base/paid.example/",
    ]);
    expect(play.page("base")).toContain("no such key: ");
    const shown = [play.page("base"), play.planPage(), play.plan("json"), play.metrics()];
    const said = [...shown, JSON.stringify(play.report()), JSON.stringify(play.log)];
    expect(said.filter((text) => text.includes(key))).toEqual([]);
  });
});
