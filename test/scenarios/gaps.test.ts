import { describe, expect, it } from "vitest";
import { behind, ScriptedFleet } from "../support/scripted-fleet.ts";
import { fleetYaml, TRIO } from "./statuses/fleets.ts";

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

describe("the gap between two variants", () => {
  it("is signed, in blocks and in seconds, with its uncertainty", () => {
    const play = new ScriptedFleet(TRIO).script("subgraph", behind(12)).script("multichain", behind(5));

    const [subgraph, mirror] = play.run("10m").chain().gaps;

    expect(subgraph).toMatchObject({ against: "multichain", blocks: 7 });
    expect(mirror).toMatchObject({ against: "multichain", blocks: -5 });
    expect(subgraph?.seconds).toBeCloseTo(14, 0);
    expect(mirror?.seconds).toBeCloseTo(-10, 0);
    expect(subgraph?.uncertainty_blocks).toBeLessThan(1);
    expect(play.values("synclag_variant_gap_blocks", "subgraph")).toEqual([7]);
  });

  it("has a larger uncertainty with a configured pace, which may be wrong by a factor of two", () => {
    const play = new ScriptedFleet(TRIO).script("subgraph", behind(12));
    play.poll("multichain").wait("10s").poll("subgraph");

    const [gap] = play.chain().gaps;

    // The chain makes 2.5 to 10 blocks within the 10 s between the two polls.
    expect(gap?.uncertainty_blocks).toBeGreaterThan(3.75);
    expect(Math.abs((gap?.blocks ?? 0) - 12)).toBeLessThan(gap?.uncertainty_blocks ?? 0);
  });

  it("is found if the two are polled at different intervals", () => {
    const schedules = { a: "*/15 * * * * *", b: "0 */10 * * * *", c: "0 */30 * * * *" };
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c"], { schedules }))
      .script("b", behind(12))
      .run("6h");

    const [b, c] = play.chain().gaps;

    expect(Math.abs((b?.blocks ?? 0) - 12)).toBeLessThanOrEqual(b?.uncertainty_blocks ?? 0);
    expect(Math.abs(c?.blocks ?? 0)).toBeLessThanOrEqual(c?.uncertainty_blocks ?? 0);
    expect(Math.max(b?.uncertainty_blocks ?? 99, c?.uncertainty_blocks ?? 99)).toBeLessThan(30);
  });

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

  it("is unknown if the first variant does not serve the chain", () => {
    const yaml = JSON.stringify({
      ...JSON.parse(chainsYaml("p/a", "p/b", "p/c")),
      chains: { base: { id: 8453, block_time: "2s" }, form: { id: 478, block_time: "2s" } },
    }).replace('["base"]', '["form"]');
    const play = new ScriptedFleet(yaml).run("5m");

    expect(play.chain("base").gaps).toEqual([]);
    expect(play.chain("base").targets).toHaveLength(2);
  });

  it("is unknown until the pace of the chain is", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b"], { blockTime: null })).run("30s");
    const early = play.chain();

    play.run("2m");

    expect(early).toMatchObject({ gaps: [], block_interval_seconds: null });
    expect(play.chain().gaps.map(({ blocks }) => blocks)).toEqual([0]);
    expect(play.chain().block_interval_seconds).toBeCloseTo(2, 1);
  });

  it("is unknown while one of the two is on another chain, and is measured again afterwards", () => {
    const play = new ScriptedFleet(TRIO).script("subgraph", behind(12)).run("10m");

    const during = gapsOf(play.script("subgraph", behind(-5_000_000)).run("2m"));
    const after = gapsOf(play.script("subgraph", behind(3)).run("2m"));

    expect(during).toEqual(["airdrops/mirror/production/base against multichain: 0"]);
    expect(after[0]).toBe("airdrops/subgraph/production/base against multichain: 3");
  });

  it("follows a change within a few polls", () => {
    const play = new ScriptedFleet(TRIO).script("subgraph", behind(12)).run("1h");

    play.script("subgraph", behind(40)).run("1m");

    expect(gapsOf(play)[0]).toBe("airdrops/subgraph/production/base against multichain: 40");
  });
});
