import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";

/** Two variants whose replies have block hashes, and a node. */
const FLEET = `
version: 1
poll: { rpc_schedule: "*/30 * * * * *", retries: 0 }
chains:
  base: { id: 8453, block_time: 2s, rpc: ["https://node.example/"] }
protocols:
  airdrops:
    - { variant: first, dialect: graph, url: "https://first.example/", schedule: "*/15 * * * * *", chains: [base] }
    - { variant: second, dialect: graph, url: "https://second.example/", schedule: "*/15 * * * * *", chains: [base] }
`;

describe("an RPC node that is asked for a block", () => {
  it("decides which of two forks is the chain's, and its hash is in the detail, until the source is back", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    play.fleet.target("airdrops/second/production/base").set({ fork: "other" });

    await play.run("5m");
    const during = play.target("second/production/base");
    const asked = questionsTo(play);
    play.fleet.target("airdrops/second/production/base").set({ fork: "main" });
    await play.run("5m");

    expect(during.status).toBe("diverged");
    expect(during.detail).toMatch(
      /its hash of block [\d,]+ is not that of an RPC node; block [\d,]+ has hash 0x[0-9a-f]{8}… by the RPC node, and 0x[0-9a-f]{8}… by this source/,
    );
    expect(play.target("first/production/base").status).toBe("ok");
    // Once a suspicion, and again only when the source has left the block behind.
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(6);
    expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
  });

  it("says that it does not have the block of a source that is far ahead", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    play.fleet.target("airdrops/second/production/base").set({ offsetBlocks: 5_000_000 });

    await play.run("2m");

    expect(play.target("second/production/base")).toMatchObject({
      status: "diverged",
      detail: expect.stringMatching(/; the RPC node does not have block [\d,]+\)?$/),
    });
  });

  it("is optional: without its reply the sources decide alone", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    play.fleet.target("airdrops/second/production/base").set({ offsetBlocks: 5_000_000 });
    play.setHost("node.example", "down");

    await play.run("10m");

    expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "diverged"]);
    expect(play.target("second/production/base").detail).not.toContain("the RPC node");
  });
});

/** The requests for one block that reached the node. */
function questionsTo(play: Scenario): readonly string[] {
  return play.received.flatMap(({ body }) =>
    body.includes("eth_getBlockByNumber") && !body.includes("latest") ? [body] : [],
  );
}
