import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, dated, type Script } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO, TRIO_AND_NODE } from "./fleets.ts";

const FAR = 30_000_000;
const QUARTET = fleetYaml(["a", "b", "c", "d"]);

/** Sources at these distances behind the head. */
function at(fleet: string, distances: Readonly<Record<string, number>>): ScriptedFleet {
  return place(new ScriptedFleet(fleet), distances);
}

function place(play: ScriptedFleet, distances: Readonly<Record<string, number>>): ScriptedFleet {
  for (const [name, blocks] of Object.entries(distances)) {
    play.script(name, behind(blocks));
  }
  return play;
}

/** How far the reference is behind the head; null: there is none. */
function referenceBehind(play: ScriptedFleet): number | null {
  const { reference } = play.chain();
  return reference === null ? null : play.head() - reference.block_number;
}

describe("the reference", () => {
  it.each([
    { case: "of two sources: the higher", fleet: { a: 0, b: 400 }, off: 0, sources: 1 },
    { case: "of three: what two have reached", fleet: { a: -3, b: 2, c: 400 }, off: 2, sources: 2 },
    { case: "of four: what two have reached", fleet: { a: -3, b: 2, c: 5, d: 7 }, off: 2, sources: 4 },
  ])("is the head $case", ({ fleet, off, sources }) => {
    const play = at(fleetYaml(Object.keys(fleet)), fleet).run("2m");

    expect(referenceBehind(play)).toBe(off);
    expect(play.chain().reference?.sources).toBe(sources);
    expect(play.values("synclag_reference_block_number")).toEqual([play.head() - off]);
    expect(play.page()).toContain(`×${sources}`);
  });

  it("is none where a chain has a single source", () => {
    const play = new ScriptedFleet(fleetYaml(["a"])).run("10m");

    expect(play.chain().reference).toBeNull();
    expect(play.values("synclag_reference_block_number")).toEqual([]);
  });

  it.each([
    { case: "of three, without block times", fleet: TRIO, script: behind(-FAR) },
    { case: "of three, with block times", fleet: TRIO, script: dated(-FAR, -2 * FAR) },
    { case: "of two", fleet: fleetYaml(["multichain", "subgraph"]), script: behind(-FAR) },
  ])("is not moved by one source that claims too much, $case, for however long", ({ fleet, script }) => {
    const play = new ScriptedFleet(fleet).run("5m").script("multichain", script);

    for (let minute = 0; minute < 15; minute += 1) {
      expect(referenceBehind(play.run("1m"))).toBe(0);
    }

    expect(play.target("multichain").status).toBe("diverged");
    expect(play.target("subgraph")).toMatchObject({ status: "ok", lag_blocks: 0 });
    expect(play.status().chains[0]?.reference?.opposed).toHaveLength(1);
  });

  it("is the block of the higher RPC node where the indexers are behind, whichever of two was asked first", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c"], { rpc: 2 }));
    play.script("airdrops", behind(200)).script("node2.test", dated(5)).run("5m");

    play.wait("2s").poll("node2.test").wait("5s").poll("node1.test");

    expect(referenceBehind(play)).toBe(0);
  });

  it("goes down at once where all sources step back further than replicas are apart", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("airdrops", behind(2_000));

    expect(referenceBehind(play.run("15s"))).toBe(2_000);
    expect(play.statuses()).toEqual(["ok", "ok", "ok"]);
  });

  it("is not taken from two that back-fill side by side, and the third is not excluded for them", () => {
    const play = new ScriptedFleet(TRIO);
    const from = play.head();
    for (const name of ["subgraph", "mirror"]) {
      play.script(name, ({ head }) => from - 100_000 + 20 * (head - from));
    }

    expect(play.run("5m").statusesDuring("30m")).toEqual(["ok", "syncing"]);
    expect(play.target("multichain").status).toBe("ok");
  });

  it("is none where two first answers contradict each other, and the detail says by how much and what would decide", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"]));
    play.script("multichain", dated()).script("subgraph", ({ head, time }) => ({
      block: head + FAR,
      timestampSec: time(head),
    }));

    play.run("5s");

    expect(play.chain().reference).toBeNull();
    expect(play.chain().standings.map(({ detail, stands }) => [stands, detail])).toEqual([
      ["disputed", "side 1"],
      ["disputed", "side 2"],
    ]);
    expect(play.target("multichain").detail).toMatch(
      /multichain \(block 1,000,\d+\) and subgraph \(block 31,000,\d+\) contradict each other by \d+ d( \d+ h)? of block time, 30,000,000 blocks apart/,
    );
    expect(play.target("multichain").detail).toContain(
      "an RPC node (`rpc`) or one more variant would decide it",
    );
  });

  it("counts how far two contradict each other at the chain's pace, whichever way their times differ", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"]));
    play.script("multichain", dated()).script("subgraph", ({ head, time }) => ({
      block: head + 43_200 * 10,
      timestampSec: time(head) - 86_400 * 3,
    }));

    play.run("5s");

    expect(play.target("multichain").detail).toMatch(/by 13 d of block time, 432,000 blocks apart/);
  });

  it("is none of two sources while one has never replied, and the other is not called a single source", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"]));

    play
      .script("multichain", dated(200))
      .script("subgraph", () => "timeout")
      .run("10m");

    expect(play.target("multichain").detail).toMatch(/its chain has too few sources that agree on a head/);
  });

  it("is what most providers have in common where two others contradict each other alone", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c", "d", "e"])).run("2m");
    play.script("d", ({ head }) => ({ block: head, hash: `0xd${head}` }));
    play.script("e", ({ head }) => ({ block: head, hash: `0xd${head}` })).run("2m");
    play.script("e", ({ head }) => ({ block: head, hash: `0xe${head}` }));

    play.run("2m");

    expect(play.chain().reference).toMatchObject({ block_number: play.head() });
    expect(play.statuses().slice(0, 3)).toEqual(["ok", "ok", "ok"]);
  });

  it("is none where two hashes differ at a height that the RPC node has not shown, and one more variant decides it", () => {
    const rpc = { rpc: 1 };
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], rpc));
    const more = new ScriptedFleet(fleetYaml(["multichain", "subgraph", "third"], rpc));
    for (const one of [play, more]) {
      one.script("rpc", dated(2));
      one.script("multichain", ({ head }) => ({ block: head, hash: "0xa" }));
      one.script("subgraph", ({ head }) => ({ block: head, hash: "0xa" })).run("2m");
      one.script("subgraph", ({ head }) => ({ block: head, hash: "0xb" }));
    }
    more.script("third", ({ head }) => ({ block: head, hash: "0xb" }));

    play.run("2m");
    more.run("2m");

    expect(play.chain().reference).toBeNull();
    expect(play.target("multichain").detail).toMatch(
      /contradict each other, at one height, and as many stand on each side; one more variant whose answers have block hashes would decide it$/,
    );
    expect(more.target("multichain").status).toBe("diverged");
    expect(more.target("subgraph").status).toBe("ok");
  });

  it("does not say by how much time two contradict each other where the pace of the chain is unknown", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { blockTime: null }));
    play.script("multichain", dated()).script("subgraph", ({ head, time }) => ({
      block: head + FAR,
      timestampSec: time(head) - 86_400,
    }));

    play.run("5s");

    expect(play.chain().reference).toBeNull();
    expect(play.target("multichain").detail).toMatch(
      /subgraph \(block 31,000,\d+\) contradict each other, 30,000,000 blocks apart/,
    );
  });

  it("shows where each source stands: with it, apart from it, or excluded and why", () => {
    const play = at(QUARTET, { a: -FAR, b: 0, c: 0, d: 5_000 }).run("1m");

    expect(play.chain().standings).toMatchObject([
      {
        block_number: play.head() + FAR,
        stands: "excluded",
        detail: expect.stringMatching(/^claims block [\d,]+, 30,000,000 beyond what /),
      },
      { block_number: play.head(), stands: "agrees", detail: null },
      { block_number: play.head(), stands: "agrees", detail: null },
      { block_number: play.head() - 5_000, stands: "apart", detail: null },
    ]);
    expect(play.page("base")).toContain("30,000,000 beyond what");
  });

  it("counts providers, not the endpoints of one host", () => {
    const play = new ScriptedFleet(
      fleetYaml(["a", "b", "c", "x", "y"]).replaceAll(/https:\/\/([abc])\.test\//g, "https://one.test/$1"),
    ).run("10m");

    for (const name of ["a", "b", "c"]) {
      play.script(name, behind(-FAR));
    }
    play.run("10m");

    expect(referenceBehind(play)).toBe(0);
    expect(play.statuses()).toEqual(["diverged", "diverged", "diverged", "ok", "ok"]);
    expect(play.report().incidents).toMatchObject([{ scope: "host", subject: "one.test" }]);
  });

  it("counts sources of other protocols and tiers", () => {
    const { protocols, ...rest } = JSON.parse(fleetYaml(["a", "b"]));
    const [a, b] = protocols.airdrops;
    const yaml = JSON.stringify({ ...rest, protocols: { airdrops: [a], flow: [{ ...b, tier: "testing" }] } });
    const play = at(yaml, { a: 300, b: 0 }).run("2m");

    expect(play.target("a").lag_blocks).toBe(300);
  });

  it("follows a true jump within three polls of the second source that makes it", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", behind(-50_000)).run("15s");

    play.script("subgraph", behind(-50_000)).run("45s");

    expect(referenceBehind(play)).toBe(-50_000);
    expect(play.statuses().slice(0, 2)).toEqual(["ok", "ok"]);
  });

  it("goes back where a false jump that most had made is taken back", () => {
    const play = new ScriptedFleet(QUARTET).run("10m");
    place(play, { a: -FAR, b: -FAR, c: -FAR }).run("90s");
    expect(referenceBehind(play)).toBe(-FAR);

    place(play, { a: 0, b: 0, c: 0 }).run("90s");

    expect(referenceBehind(play)).toBe(0);
    expect(play.target("d")).toMatchObject({ status: "ok", lag_blocks: 0 });
  });

  it("stays where it was when as many jump as go on", () => {
    const play = new ScriptedFleet(QUARTET).run("10m");

    place(play, { a: -FAR, b: -FAR }).run("2m");

    expect(referenceBehind(play)).toBe(0);
    expect(play.statuses()).toEqual(["diverged", "diverged", "ok", "ok"]);
  });

  it("is not carried away by another, faster chain whose heights pass this one's", () => {
    for (const hasTimes of [true, false]) {
      const play = new ScriptedFleet(QUARTET).run("10m");
      const from = play.head();
      const passing: Script = ({ head, time }) => {
        const block = from - 450 + 2 * (head - from);
        return hasTimes ? { block, timestampSec: time(head) } : block;
      };
      play.script("d", passing);

      for (let minute = 0; minute < 30; minute += 1) {
        expect(referenceBehind(play.run("1m"))).toBe(0);
      }

      expect(play.statuses()).toEqual(["ok", "ok", "ok", "diverged"]);
      expect(play.chain().block_interval_seconds).toBeCloseTo(2, 1);
    }
  });

  it("does not fall to those that lag until the last answers of the others are stale", () => {
    const play = at(QUARTET, { a: 0, b: 0, c: 3_000, d: 3_000 }).run("10m");
    play.script("a", () => null).script("b", () => null);

    play.run("2m");
    expect(referenceBehind(play)).toBeLessThan(100);
    expect(play.target("c").status).toBe("lagging");

    play.run("5m");
    expect(referenceBehind(play)).toBe(3_000);
  });

  it("goes on with the others where as many have fallen silent", () => {
    const play = new ScriptedFleet(QUARTET)
      .run("10m")
      .script("a", () => null)
      .script("b", () => null);

    play.run("1m");

    expect(referenceBehind(play)).toBe(0);
  });

  it("does not go by those that back-fill, though they are the majority", () => {
    const play = new ScriptedFleet(TRIO);
    const first = play.head();
    play.script("subgraph", ({ head }) => 10_000 + (head - first) * 1_000);
    play.script("mirror", ({ head }) => 5_000 + (head - first) * 1_000);

    play.run("90s");

    expect(referenceBehind(play)).toBe(0);
    expect(play.statuses()).toEqual(["ok", "syncing", "syncing"]);
  });

  it("follows a chain that bursts to nine times its pace, and nothing is said to catch up", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b", "c"], { blockTime: "0.5s" })).run("10m");
    const from = play.head(500);
    play.script("airdrops", ({ head }) => from + 9 * (head - from));
    play.script("c", ({ head }) => from + 9 * (head - from) - 3);

    expect(play.statusesDuring("10m")).toEqual(["ok"]);
    expect(play.chain().reference?.block_number).toBe(from + 9 * (play.head(500) - from));
  });

  it("is never above what was shown: the first to answer has lag 0 until another has shown a newer block", () => {
    const play = at(QUARTET, { a: 0, b: 0, c: 0, d: 4 }).run("10m");
    const before = play.chain().reference?.block_number;

    play.wait("15s").poll("d");
    const early = play.chain().reference?.block_number;
    const lag_blocks = play.target("d").lag_blocks;
    play.poll("a").poll("b").poll("c");

    expect({ early, lag_blocks }).toEqual({ early: before, lag_blocks: 0 });
    expect(play.target("d").lag_blocks).toBe(4);
  });

  it("is outvoted within three polls where a majority of liars wrote the state before a restart", () => {
    for (const after of [0, -FAR]) {
      const play = place(new ScriptedFleet(QUARTET), { b: -FAR, c: -FAR, d: -FAR }).run("10m");
      const before = referenceBehind(play);

      place(play.restart(), { b: 0, c: 0, d: after }).run("45s");

      expect([before, referenceBehind(play)]).toEqual([-FAR, 0]);
      expect(play.run("30s").statuses()).toEqual(["ok", "ok", "ok", after === 0 ? "ok" : "diverged"]);
    }
  });

  it("is known after a restart with a liar as if there had been none", () => {
    const restarted = place(new ScriptedFleet(QUARTET), { d: -FAR }).run("10m").restart().run("45s");
    const through = place(new ScriptedFleet(QUARTET), { d: -FAR }).run("10m").run("45s");

    expect(restarted.report()).toEqual(through.report());
    expect(restarted.statuses()).toEqual(["ok", "ok", "ok", "diverged"]);
  });

  it("is carried over sources that are asked twice an hour", () => {
    const often = "*/15 * * * * *";
    const rarely = "0 */30 * * * *";
    const play = at(fleetYaml(["a", "b", "c"], { schedules: { a: often, b: rarely, c: rarely } }), { c: 4 });

    play.run("1h");
    for (let minute = 0; minute < 60; minute += 1) {
      play.run("1m");
      expect(Math.abs(referenceBehind(play) ?? Number.NaN)).toBeLessThanOrEqual(10);
    }

    expect(play.target("b")).toMatchObject({ status: "ok", lag_blocks: 0 });
  });
});

describe("the reference of a chain with an RPC node", () => {
  it("is the node's head where that is new by its own time", () => {
    const play = new ScriptedFleet(fleetYaml(["a"], { rpc: 1 })).script("a", behind(600)).run("2m");

    expect(referenceBehind(play)).toBe(0);
    expect(play.target("a")).toMatchObject({ status: "lagging", lag_blocks: 600 });
  });

  it("is not the node's where two providers agree, advance and stand elsewhere", () => {
    const play = at(fleetYaml(["a", "b"], { rpc: 1 }), { a: 3_600, b: 3_600 })
      .script("rpc", () => null)
      .run("10m");

    play.script("rpc", dated()).run("5m");

    expect(referenceBehind(play)).toBe(3_600);
    expect(play.statuses()).toEqual(["ok", "ok"]);
    expect(play.chain().reference?.opposed.map(({ source }) => source)).toEqual(play.keys("rpc"));
  });

  it("is the node's where it goes on while all indexers fall back from it", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b"], { rpc: 1 })).run("10m");

    place(play, { a: 3_600, b: 3_600 }).run("3m");

    expect(referenceBehind(play)).toBe(0);
    expect(play.statuses()).toEqual(["lagging", "lagging"]);
  });

  it("is not moved by a node of another chain", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b"], { rpc: 1 })).run("10m");

    play.script("rpc", ({ head, time }) => ({ block: head + FAR, timestampSec: time(head) })).run("10m");

    expect(referenceBehind(play)).toBe(0);
    expect(play.statuses()).toEqual(["ok", "ok"]);
  });

  it("is above a node that is behind the indexers", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).script("rpc", dated(20)).run("10m");

    expect(referenceBehind(play)).toBe(0);
  });

  it("names two nodes of one host apart, without the keys in their URLs", () => {
    const yaml = fleetYaml(["a", "b"], { rpc: 2 })
      .replace("https://node1.test/", "https://node.test/v1/key")
      .replace("https://node2.test/", "https://node.test/v2/key");
    const members = new ScriptedFleet(yaml).run("2m").chain().reference?.members ?? [];

    expect(new Set(members).size).toBe(4);
    expect(members.filter((key) => key.startsWith("rpc/base/node.test/"))).toHaveLength(2);
    expect(JSON.stringify(members)).not.toMatch(/v1|v2|key/);
  });
});
