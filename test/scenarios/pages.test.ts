import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";

/** A Ponder and an Envio without their APIs, a proxy of nodes and a node: an example of the documents, as it stands there. */
const FLEET =
  /^## Ponder, and other indexers by their own pages$.*?^```yaml\n(.*?)^```$/ms
    .exec(readFileSync("docs/your-case.md", "utf8"))?.[1]
    ?.replace(/.*tier: next.*\n/, "") ?? "";

describe("indexers and nodes that are read from a page", () => {
  it("are read with one GET each; their heights, times and head count like those of an API", async () => {
    await using play = await startScenario(FLEET);

    await play.run("2m");

    const { targets, chains, unlisted } = play.status();
    expect(statusesOf(play)).toEqual([
      "envio/base ok",
      "envio/ethereum ok",
      "ponder/base ok",
      "ponder/ethereum ok",
    ]);
    expect(targets.map(({ block_timestamp: time }) => time === null)).toEqual([false, false, false, false]);
    expect(chains.map(({ reference }) => reference?.sources)).toEqual([3, 3]);
    // Nor does anybody expect chains.yaml to list what a proxy of nodes serves.
    expect(unlisted.flatMap(({ chain_ids }) => chain_ids)).toEqual([]);
    const pages = play.received.filter(({ path }) => path !== "/");
    expect(new Set(pages.map(({ path, body }) => `${path} ${body}`))).toEqual(
      new Set(["/metrics ", "/status "]),
    );
  });

  it("are stalled if one chain stops, even if the page says ready", async () => {
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

  it("are never asked for a disputed block, unlike JSON-RPC nodes", async () => {
    await using play = await startScenario(FLEET);
    await play.run("2m");
    play.fleet.target("vaults/envio/production/base").set({ offsetBlocks: 5_000_000 });

    await play.run("5m");

    expect(statusesOf(play)).toContain("envio/base diverged");
    const forBlocks = play.received.filter(({ body }) => body !== "" && !/eth_chainId|"latest"/.test(body));
    expect(forBlocks).toEqual([]);
  });
});

function statusesOf(play: Scenario): readonly string[] {
  return play
    .status()
    .targets.map(({ variant, chain, status }) => `${variant}/${chain} ${status}`)
    .toSorted();
}
