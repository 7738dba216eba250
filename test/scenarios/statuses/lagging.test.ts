import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, dated } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

/** `multichain` makes half as many blocks as its chain from now on. All report the times of their blocks. */
function slowDown(play: ScriptedFleet): ScriptedFleet {
  const from = play.head();
  return play.script("multichain", ({ head, time }) => {
    const block = from + Math.floor((head - from) / 2);
    return { block, timestampSec: time(block) };
  });
}

describe("`lagging`", () => {
  it("begins where a target that advances is more than ten minutes behind, and ends within ten", () => {
    const play = slowDown(new ScriptedFleet(TRIO).script("airdrops", dated()).run("30m"));

    // After 20 min at half the pace it is ten minutes behind.
    expect(play.changes("multichain", "40m")).toEqual(["20m 30s lagging"]);

    const { detail, lag_blocks, lag_seconds } = play.target("multichain");
    expect(lag_blocks).toBe(600);
    expect(lag_seconds).toBeCloseTo(1_200, -1);
    expect(detail).toBe(
      "advances, 20 min (600 blocks) behind the reference seen by 2 sources; at this pace it never catches up",
    );
    expect(play.values("synclag_lag_seconds", "multichain")).toEqual([lag_seconds]);
    expect(play.values("synclag_lag_blocks", "multichain")).toEqual([600]);
    expect(play.page()).toContain("20 min behind; subgraph and mirror are ok");
    expect(play.check("airdrops/base/multichain").exitCode).toBe(1);
    play.script("multichain", behind(10));
    expect(play.changes("multichain", "5m")).toEqual(["30s ok"]);
  });

  it("goes by the configured threshold", () => {
    const thresholds = { lagging: "2m", critical: "30m" };
    const play = slowDown(
      new ScriptedFleet(fleetYaml(["multichain", "subgraph", "mirror"], { thresholds }))
        .script("airdrops", dated())
        .run("30m"),
    );

    expect(play.changes("multichain", "10m")).toEqual(["4m 30s lagging"]);
  });

  it("ends `check` with 2 once it is critical", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(905)).run("1h");

    expect(play.target("multichain").status).toBe("lagging");
    expect(play.check("airdrops/base/multichain").exitCode).toBe(2);
  });

  it.each([
    { blocks: 300, status: "ok" },
    { blocks: 301, status: "lagging" },
  ])("holds by the block: $status at $blocks blocks of two seconds", ({ blocks, status }) => {
    const play = new ScriptedFleet(TRIO).script("airdrops", dated()).script("multichain", dated(blocks));

    play.run("10m");

    expect(play.target("multichain")).toMatchObject({ status, lag_blocks: blocks });
  });

  it("has lag 0 for all while the chain itself pauses, and no lag for the pause afterwards", () => {
    const play = new ScriptedFleet(TRIO).script("airdrops", dated()).run("30m").haltChains().run("8m");

    expect(play.chain().targets.map(({ lag_seconds }) => lag_seconds)).toEqual([0, 0, 0]);
    play.resumeChains();
    expect(play.statusesDuring("10m")).toEqual(["ok"]);
    expect(play.chain().targets.map(({ lag_seconds }) => lag_seconds)).toEqual([0, 0, 0]);
  });

  it("measures the lag in time by what blocks took, not by the usual time of a block", () => {
    // The file says 2 s, and the chain makes a block each 4 s.
    const slow = ({ head, time }: { head: number; time: (block: number) => number }, late: number) => {
      const block = Math.floor(head / 2) - late;
      return { block, timestampSec: time(block * 2) };
    };
    const play = new ScriptedFleet(TRIO).script("airdrops", (moment) => slow(moment, 0));
    play.script("multichain", (moment) => slow(moment, 100)).run("1h");

    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 100 });
    expect(play.target("multichain").lag_seconds).toBeCloseTo(400, -1);
    expect(play.chain().block_interval_seconds).toBeCloseTo(4, 1);
  });

  it("says that a target stands still before it is `stalled`, where it is far behind", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(360)).run("1h");
    const stuck = play.head() - 360;
    play.script("multichain", () => stuck).run("3m");

    expect(play.target("multichain").status).toBe("lagging");
    expect(play.target("multichain").detail).toMatch(
      /^has not advanced for 3 min, 15 min \(450 blocks\) behind /,
    );
  });

  it("says when a target advanced last where its last poll failed", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(360)).run("1h");

    play.wait("45s").poll("multichain", "timeout");

    expect(play.target("multichain").detail).toMatch(
      /^last advanced 45 s ago, .*; the last poll failed: timeout$/,
    );
  });
});

describe("`lagging` of the only source of a chain", () => {
  function alone(ageSec: number): ScriptedFleet {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    return play
      .script("multichain", ({ head, time }) => ({ block: head, timestampSec: time(head) - ageSec }))
      .run("5m");
  }

  it("goes by the age of its blocks against the clock, less the usual time between blocks", () => {
    const said = [1, 5, 720, 2_400].map((ageSec) => {
      const play = alone(ageSec);
      const { lag_blocks, status } = play.target("multichain");
      return [ageSec, status, lag_blocks, ...play.values("synclag_lag_seconds")];
    });

    expect(said).toEqual([
      [1, "ok", null, 0],
      [5, "ok", null, 3],
      [720, "lagging", null, 718],
      [2_400, "lagging", null, 2_398],
    ]);
  });

  it("says so, and has neither a lag in blocks nor a reference", () => {
    const play = alone(720);

    expect(play.target("multichain").detail).toBe(
      "advances, 12 min behind, measured against the clock: its chain has a single source",
    );
    expect(play.values("synclag_lag_blocks")).toEqual([]);
    expect(play.values("synclag_reference_block_number")).toEqual([]);
  });

  it.each([
    { minutes: 1, exitCode: 0 },
    { minutes: 12, exitCode: 1 },
    { minutes: 29, exitCode: 1 },
    { minutes: 40, exitCode: 2 },
  ])("ends `check` with $exitCode at $minutes min", ({ exitCode, minutes }) => {
    expect(alone(minutes * 60).check().exitCode).toBe(exitCode);
  });

  it("never holds without block times, and the detail says why the lag is unknown", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"])).script("multichain", behind(100_000)).run("5m");

    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: null, lag_seconds: null });
    expect(play.target("multichain").detail).toBe(
      "advances, lag unknown: its chain has a single source, without block times",
    );
    expect(play.values("synclag_lag_seconds")).toEqual([]);
  });
});
