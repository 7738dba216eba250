import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../support/scripted-fleet.ts";

/** Indexers of Base, `protocol/variant/tier` each. */
function chainsYaml(...indexers: readonly string[]): string {
  const protocols: Record<string, object[]> = {};
  for (const indexer of indexers) {
    const [protocol = "", variant, tier = "production"] = indexer.split("/");
    const url = `https://${variant}-${protocol}-${tier}.test/`;
    const schedule = "*/15 * * * * *";
    protocols[protocol] = [
      ...(protocols[protocol] ?? []),
      { variant, tier, dialect: "graph", url, schedule, chains: ["base"] },
    ];
  }
  return JSON.stringify({ version: 1, chains: { base: { id: 8453, block_time: "2s" } }, protocols });
}

/** `target against variant: blocks` of every gap. */
function gapsOf(play: ScriptedFleet): readonly string[] {
  return play.chain().gaps.map(({ against, blocks, key }) => `${key} against ${against}: ${blocks}`);
}

// test/fixtures/stories/gaps.txt has the rest.
describe("the gap between two variants", () => {
  it.each([
    {
      case: "the production tier of the protocol's first variant",
      indexers: ["p/a/testing", "p/a", "p/b", "q/a"],
      gaps: ["p/a/testing/base against a: 0", "p/b/production/base against a: 0"],
    },
    {
      case: "the only tier of that variant",
      indexers: ["p/a/testing", "p/b"],
      gaps: ["p/b/production/base against a: 0"],
    },
    { case: "nothing of another protocol", indexers: ["p/a", "q/b"], gaps: [] },
  ])("is to $case", ({ gaps, indexers }) => {
    expect(gapsOf(new ScriptedFleet(chainsYaml(...indexers)).run("5m"))).toEqual(gaps);
  });
});
