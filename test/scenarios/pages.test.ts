import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";

/** A Ponder and an Envio without their APIs, and the head of a chain from a proxy of nodes. */
const FLEET = `
version: 1
poll: { retries: 0, rpc_schedule: "*/15 * * * * *" }
chains:
  base: { id: 8453, block_time: 2s, rpc: [{ url: "https://erpc.example:4001/metrics", dialect: erpc }] }
  ethereum: { id: 1, block_time: 12s }
protocols:
  vaults:
    - { variant: ponder, dialect: ponder-status, url: "https://ponder.example:42069/status", chains: [base, ethereum] }
    - { variant: envio, dialect: envio-metrics, url: "https://envio.example:9898/metrics", chains: [base, ethereum] }
`;

describe("indexers and nodes that are read from a page", () => {
  it("are asked with one GET each, whose heights, times and head count like those of an API", async () => {
    await using play = await startScenario(FLEET);

    await play.run("2m");

    const { targets, chains } = play.status();
    expect(statusesOf(play)).toEqual([
      "envio/base ok",
      "envio/ethereum ok",
      "ponder/base ok",
      "ponder/ethereum ok",
    ]);
    expect(targets.map(({ block_timestamp: time }) => time === null)).toEqual([false, false, false, false]);
    expect(chains.map(({ reference }) => reference?.sources)).toEqual([3, 2]);
    expect(new Set(play.received.map(({ body }) => body))).toEqual(new Set([""]));
  });

  it("are stalled where one chain stands still, whatever the page says of being ready", async () => {
    await using play = await startScenario(FLEET);
    await play.run("2m");
    play.fleet.target("vaults/envio/production/base").freeze();

    await play.run("15m");

    expect(statusesOf(play)).toEqual([
      "envio/base stalled",
      "envio/ethereum ok",
      "ponder/base ok",
      "ponder/ethereum ok",
    ]);
  });

  it("are syncing before the first block", async () => {
    await using play = await startScenario(FLEET);
    play.fleet.target("vaults/envio/production/base").set({ says: { block: null } });

    await play.run("1m");

    expect(statusesOf(play)).toContain("envio/base syncing");
  });

  it("are never asked for a block, as a JSON-RPC node is, where sources contradict each other", async () => {
    await using play = await startScenario(FLEET);
    await play.run("2m");
    play.fleet.target("vaults/envio/production/base").set({ offsetBlocks: 5_000_000 });

    await play.run("5m");

    expect(statusesOf(play)).toContain("envio/base diverged");
    expect(new Set(play.received.map(({ body }) => body))).toEqual(new Set([""]));
  });
});

function statusesOf(play: Scenario): readonly string[] {
  return play
    .status()
    .targets.map(({ variant, chain, status }) => `${variant}/${chain} ${status}`)
    .toSorted();
}
