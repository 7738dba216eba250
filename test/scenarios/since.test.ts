import { describe, expect, it } from "vitest";
import { startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
chains:
  base: { id: 8453, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/graphql", chains: [base], schedule: "*/15 * * * * *" }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", chains: [base], schedule: "*/15 * * * * *" }
`;
const SUBGRAPH = "airdrops/subgraph/production/base";

/** The status of the subgraph, and since when: the time of day. */
const statusOf = ({ status, since }: { readonly status: string; readonly since: string | null }): string =>
  `${status} since ${since?.slice(11, 19) ?? "the start"}`;

describe("since when a target has its status", () => {
  it("is when a poll changed it, over restarts and kills", async () => {
    await using play = await startScenario(FLEET, { at: "2026-11-20T03:00:00Z" });
    const before = statusOf(play.target("subgraph"));
    await play.run("5m");
    const healthy = statusOf(play.target("subgraph"));
    play.fleet.target(SUBGRAPH).freeze();
    await play.run("20m");
    const stalled = statusOf(play.target("subgraph"));
    await play.restart({ state: "kept", after: "1m" });
    await play.run("3m");
    const kept = statusOf(play.target("subgraph"));
    await play.restart({ state: "written", after: "1m" });
    await play.run("1m");
    const killed = statusOf(play.target("subgraph"));
    play.fleet.target(SUBGRAPH).heal();
    await play.run("1m");
    const healed = statusOf(play.target("subgraph"));

    expect(before).toBe("unknown since the start");
    expect(healthy).toMatch(/^ok since 03:00:0\d$/);
    expect(stalled).toMatch(/^stalled since 03:(0[6-9]|1\d):/);
    expect([kept, killed]).toEqual([stalled, stalled]);
    expect(healed).toMatch(/^ok since 03:3\d:/);
  });

  it("is the begin of an outage of our own network for all, and the same as before after it", async () => {
    await using play = await startScenario(FLEET, { at: "2026-11-20T03:00:00Z" });
    await play.run("5m");
    play.setHost("envio.example", "down");
    play.setHost("graph.example", "down");
    await play.run("5m");
    const outage = statusOf(play.target("subgraph"));
    play.setHost("envio.example", "up");
    play.setHost("graph.example", "up");
    await play.run("2m");

    expect(outage).toMatch(/^unknown since 03:0[56]:/);
    expect(statusOf(play.target("subgraph"))).toMatch(/^ok since/);
    expect(play.target("subgraph").status_changes).toBeLessThanOrEqual(2);
  });
});
