import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const BASE = "airdrops/subgraph/production/base";

function chainsYaml(): string {
  return `
version: 1
poll: { retries: 0 }
budgets: { studio: { limit: 100, per: hour, scope: endpoint } }
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://node.example/"] }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "0 * * * * *", budget: studio, chains: [base, mode] }
    - { variant: multichain, dialect: envio, url: "https://envio.example/", schedule: "*/15 * * * * *", chains: [base, mode] }
`;
}

describe("a restart on the saved state", () => {
  it("is ready at once, polls nothing again, and says what the daemon said before, faults and incidents too", async () => {
    await using play = await startScenario(chainsYaml());
    await play.run("3m");
    play.fleet.target(BASE).freeze();
    play.fleet.endpoint("airdrops/multichain/production/all").fail(FAULTS.http_502);
    await play.run("905s");
    const before = knownBy(play);
    const asked = play.received.length;
    const [page, check] = [play.page(), play.check()];

    await play.restart({ state: "kept" });

    expect(play.ready()).toEqual({ ok: true, detail: "Every endpoint was polled" });
    expect(knownBy(play)).toEqual(before);
    expect(before.targets.map(({ status }) => status)).toEqual([
      "stalled",
      "unreachable",
      "ok",
      "unreachable",
    ]);
    expect(before.incidents).toHaveLength(1);
    expect(play.check()).toEqual(check);
    expect(play.page()).toBe(page);
    await play.run("5s");
    expect(play.received).toHaveLength(asked);
    expect(play.log.filter(({ msg }) => msg === "First round done")).toHaveLength(2);
    // Nothing has changed by it.
    expect(play.log.slice(-2).map(({ msg }) => msg)).not.toContain("Status changed");
  });

  it("keeps counting what was spent under a clock that is wrong after the restart, and when it is right again", async () => {
    await using play = await startScenario(chainsYaml().replace("limit: 100", "limit: 62"));
    await play.run("50m");
    const first = play.fleet.endpoint(BASE).requestCount;

    play.setClock("-3h");
    await play.restart({ state: "kept" });
    await play.run("25m");
    play.setClock("3h");
    await play.restart({ state: "kept" });
    await play.run("10m");

    // Within 85 minutes of true time: at most the limit in each hour.
    expect(first).toBe(51);
    const times = play.received.filter(({ endpoint }) => endpoint === BASE).map(({ atMs }) => atMs);
    const most = Math.max(
      ...times.map((end) => times.filter((atMs) => atMs <= end && atMs > end - 3_600_000).length),
    );
    expect(most).toBeLessThanOrEqual(62);
    expect(times.length).toBeGreaterThan(first);
  });

  it("begins with the query that each endpoint answered last", async () => {
    await using play = await startScenario(chainsYaml(), {
      endpoints: (spec) => (spec.kind.startsWith("envio") ? { ...spec, kind: "envio-2.27" } : spec),
    });
    await play.run("5m");
    const asked = play.received.length;

    await play.restart({ state: "kept" });
    await play.run("2m");

    const queries = play.received
      .slice(asked)
      .filter(({ endpoint }) => endpoint.includes("multichain"))
      .map(({ body }) => body);
    expect(new Set(queries)).toEqual(
      new Set(['{"query":"{ chain_metadata { chain_id latest_processed_block } }"}']),
    );
  });
});

function knownBy(play: Scenario) {
  const { chains, incidents, targets } = play.report();
  return {
    targets: targets.map(({ key, status, block_number, last_advance }) => ({
      key,
      status,
      block_number,
      last_advance,
    })),
    references: chains.map(({ reference }) => reference?.block_number),
    incidents,
  };
}
