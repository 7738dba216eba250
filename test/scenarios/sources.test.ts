import { describe, expect, it } from "vitest";
import { startScenario } from "../support/scenario.ts";
import { behind, ScriptedFleet } from "../support/scripted-fleet.ts";

const [GOOD, WRONG] = ["https://good.test/key", "https://wrong.test/key"] as const;
/** Of another chain. */
const FAR = 5_000_000;

interface Configured {
  readonly nodes?: readonly string[];
  readonly multichain?: string;
  readonly subgraph?: string | null;
  readonly id?: number;
}

function chainsYaml({
  nodes = [],
  multichain = "https://a.test/",
  subgraph = "https://b.test/",
  id = 8453,
}: Configured): string {
  const indexer = (variant: string, url: string) =>
    `    - { variant: ${variant}, url: "${url}", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }`;
  return `
version: 1
chains: { base: { id: ${id}, block_time: 2s, rpc: ${JSON.stringify(nodes)} } }
protocols:
  airdrops:
${indexer("multichain", multichain)}
${subgraph === null ? "" : indexer("subgraph", subgraph)}
`;
}

describe("a reload", () => {
  it("that removes the first of two RPC nodes leaves nothing of it to the second", () => {
    const play = new ScriptedFleet(chainsYaml({ nodes: [WRONG, GOOD] }));
    play.script("wrong.test", behind(-FAR)).run("2m");
    const before = play.chain().reference;

    play.reload(chainsYaml({ nodes: [GOOD] }));

    expect(before).toMatchObject({
      sources: 3,
      opposed: [{ source: expect.stringContaining("wrong.test") }],
    });
    expect(play.chain().reference).toMatchObject({
      sources: 3,
      opposed: [],
      block_number: before?.block_number,
    });
    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 0 });
  });

  it.each([
    { removed: "the RPC node", next: { nodes: [] } },
    { removed: "the first target", next: { nodes: [GOOD], multichain: "https://c.test/" } },
    { removed: "the second target", next: { nodes: [GOOD], subgraph: "https://c.test/" } },
  ])("that removes $removed does not count it among the sources that agree", ({ next }) => {
    const play = new ScriptedFleet(chainsYaml({ nodes: [GOOD] })).run("2m");

    play.reload(chainsYaml(next));

    expect(play.chain().reference).toMatchObject({ sources: 2 });
  });

  it.each([
    { change: "URL", next: { multichain: "https://c.test/" } },
    { change: "chain id", next: { id: 84_532 } },
  ])("that changes the $change of a target begins anew with it", ({ next }) => {
    const play = new ScriptedFleet(chainsYaml({})).run("2m");

    play.reload(chainsYaml(next));

    expect(play.target("multichain")).toMatchObject({
      status: "unknown",
      block_number: null,
      last_success: null,
      detail: "not polled yet",
    });
    expect(play.chain()).toMatchObject({ gaps: [], reference: null });
  });

  it("that removes nothing changes nothing", () => {
    const play = new ScriptedFleet(chainsYaml({ nodes: [GOOD] })).script("subgraph", behind(30)).run("2m");
    const before = play.status();

    play.reload(chainsYaml({ nodes: [WRONG, GOOD] }));

    expect(play.status()).toEqual(before);
  });
});

describe("a restart of the daemon", () => {
  it("says nothing of an RPC node that a reload has removed", async () => {
    await using play = await startScenario(
      chainsYaml({ nodes: ["https://node.test/"], multichain: "https://a.test/", subgraph: null }),
    );
    play.fleet.target("airdrops/multichain/production/base").set({ offsetBlocks: FAR });
    await play.run("2m");
    const before = play.target("multichain").status;

    await play.reload(chainsYaml({ subgraph: null }));
    await play.restart({ state: "kept" });

    expect(before).toBe("diverged");
    expect(play.target("multichain")).toMatchObject({ status: "ok", reason: null });
    expect(play.chain().reference).toBeNull();
  });

  it.each([
    { case: "knows what the same URL said of the same chain", next: {}, isKnown: true },
    { case: "knows nothing of another URL", next: { multichain: "https://c.test/" }, isKnown: false },
    { case: "knows nothing of another chain", next: { id: 84_532 }, isKnown: false },
  ])("$case", async ({ isKnown, next }) => {
    await using play = await startScenario(chainsYaml({ subgraph: null }));
    await play.run("2m");
    const { last_advance } = play.target("multichain");

    await play.restart({ state: "kept", chainsYaml: chainsYaml({ subgraph: null, ...next }) });

    expect(last_advance).not.toBeNull();
    expect(play.target("multichain").last_advance).toBe(isKnown ? last_advance : null);
  });
});
