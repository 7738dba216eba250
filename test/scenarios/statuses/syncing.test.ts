import { describe, expect, it } from "vitest";
import { FIRST_BLOCK, ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, dated } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

describe("`syncing`", () => {
  it("holds for a target that has not started, and is no failure", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", () => "not_started").run("1m");

    expect(play.target("multichain")).toMatchObject({
      status: "syncing",
      up: false,
      reason: null,
      detail: "has not started indexing yet",
    });
  });

  it("holds for what was the only source of its chain, and so not known to be at the head", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    play.script("multichain", ({ head }) => Math.min(head, FIRST_BLOCK - 10_000 + (head - FIRST_BLOCK) * 2));
    const alone = play.run("10m").target("multichain").status;

    play.reload(fleetYaml(["multichain", "subgraph", "mirror"])).run("5m");

    expect([alone, ...play.statuses()]).toEqual(["ok", "syncing", "ok", "ok"]);
  });

  it("does not hold for the only source of a chain that keeps its distance, though it gives times only since lately", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    play.script("multichain", behind(2_700)).run("30s");

    const changes = play.script("multichain", dated(2_700)).changes("multichain", "5m");

    expect(changes.map((change) => change.split(" ").at(-1))).toEqual(["lagging"]);
  });

  it("does not hold for the only source of a chain that works in batches and keeps its distance", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"], { blockTime: "12s" }));
    play.script("multichain", ({ head, time }) => {
      const block = Math.floor((head - 2_000) / 5) * 5;
      return { block, timestampSec: time(block) };
    });

    expect(play.statusesDuring("30m")).toEqual(["lagging"]);
  });

  it("holds while a target that was never at the head catches up, and ends at the head", () => {
    const from = FIRST_BLOCK - 259_200;
    const play = new ScriptedFleet(TRIO);
    play.script("multichain", ({ head }) => Math.min(head, from + (head - FIRST_BLOCK) * 200));

    play.run("1m");
    expect(play.target("multichain").status).toBe("syncing");
    expect(play.target("multichain").detail).toMatch(
      /^catching up, about \d d( \d+ h)? \(25\d,\d{3} blocks\) behind the reference seen by 2 sources$/,
    );
    const changes = play.changes("multichain", "1h");
    expect(changes.map((change) => change.split(" ").at(-1))).toEqual(["ok"]);
  });

  it("does not hold for a target that keeps its distance", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(259_200)).run("10m");

    expect(play.target("multichain").status).toBe("lagging");
  });

  it("does not hold once a target has been at the head: then it is `lagging`, however fast it catches up", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    const from = play.head();
    play.script("multichain", () => "connect").run("2h");

    play.script("multichain", ({ head }) => Math.min(head, from + (head - from - 3_600) * 10));

    const changes = play.changes("multichain", "2h").map((change) => change.split(" ").at(-1));
    expect(changes).toEqual(["lagging", "ok"]);
  });

  it("holds after a re-index, from the third low answer on, until the head is reached again", () => {
    const play = new ScriptedFleet(TRIO).run("1h");
    const from = play.head();
    play.script("multichain", ({ head }) => Math.min(head, 5_000 + (head - from) * 800));

    expect(play.changes("multichain", "10m")).toEqual(["45s syncing"]);

    expect(play.target("multichain").regressions).toEqual({ reorg: 0, reindex: 1 });
    expect(play.target("multichain").detail).toMatch(
      /^about \d+ d( \d+ h)? \([\d,]+ blocks\) behind .*; catching up at \d+(\.\d)? blocks a second, at the head in about \d+ min$/,
    );
    expect(play.values("synclag_regressions_total", "multichain", "reindex")).toEqual([1]);
    expect(play.restart().target("multichain").status).toBe("syncing");
    const changes = play.changes("multichain", "1h").map((change) => change.split(" ").at(-1));
    expect(changes).toEqual(["ok"]);
  });

  it("goes by block times for the only source of a chain", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    play.script("multichain", ({ head, time }) => {
      const block = Math.min(head, FIRST_BLOCK - 100_000 + (head - FIRST_BLOCK) * 10);
      return { block, timestampSec: time(block) };
    });

    play.run("10m");

    expect(play.target("multichain")).toMatchObject({ status: "syncing", lag_blocks: null });
  });

  it("holds for the only source of a chain that goes faster than its chain can, without block times", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    play.script("multichain", ({ head }) => FIRST_BLOCK + (head - FIRST_BLOCK) * 500);

    expect(play.run("5m").target("multichain")).toMatchObject({ status: "syncing", lag_blocks: null });
  });

  it.each(["2s", null])(
    "holds for all while every source back-fills, without a reference, with a block time of %s",
    (blockTime) => {
      const play = new ScriptedFleet(fleetYaml(["a", "b"], { blockTime }));
      const first = play.head();
      play.script("a", ({ head }) => Math.min(head, 900_000 + (head - first) * 900));
      play.script("b", ({ head }) => Math.min(head, 880_000 + (head - first) * 850));

      play.run("3m");

      expect(play.chain().reference).toBeNull();
      expect(play.statuses()).toEqual(["syncing", "syncing"]);
      play.script("airdrops", behind(0)).run("10m");
      expect(play.chain().reference?.block_number).toBe(play.head());
      expect(play.statuses()).toEqual(["ok", "ok"]);
      expect(play.chain().block_interval_seconds).toBeCloseTo(2, 1);
    },
  );

  it("is no reference where all are hours behind by their own times, and none of them is ok", () => {
    const play = new ScriptedFleet(fleetYaml(["a", "b"])).script("airdrops", dated(5_400)).run("10m");

    expect(play.chain().reference).toBeNull();
    expect(play.statuses()).toEqual(["lagging", "lagging"]);
  });
});
