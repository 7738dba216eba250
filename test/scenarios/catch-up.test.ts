import { describe, expect, it } from "vitest";
import type { TargetReport } from "../../src/core/model/report.ts";
import { behind, FIRST_BLOCK, type Script, ScriptedFleet } from "../support/scripted-fleet.ts";
import { fleetYaml, TRIO } from "./statuses/fleets.ts";

/** Three hours of a chain with a block each two seconds. */
const LATE_BLOCKS = 5_400;

/** From now on `pace` blocks for each block of the chain, in batches; negative: backward. */
function indexing(play: ScriptedFleet, from: number, pace: number, batch = 1): Script {
  const since = play.head();
  return ({ head }) => Math.min(head, Math.floor((from + (head - since) * pace) / batch) * batch);
}

/** A target that was at the head, and is three hours behind after an outage. */
function threeHoursBehind(): ScriptedFleet {
  const play = new ScriptedFleet(TRIO).run("30m");
  return play.script("multichain", behind(LATE_BLOCKS)).run("1m");
}

/** In order, whether it was said to come to the head (`eta`), not to (`never`), or nothing, without repetitions. */
function wordsDuring(play: ScriptedFleet, minutes: number): readonly string[] {
  const words: string[] = [];
  for (let minute = 0; minute < minutes * 4; minute += 1) {
    const word = wordFor(play.run("15s").target("multichain").catch_up);
    if (words.at(-1) !== word) {
      words.push(word);
    }
  }
  return words;
}

function wordFor(said: TargetReport["catch_up"]): string {
  if (said === null) {
    return "nothing";
  }
  return said.eta_seconds === null ? "never" : "eta";
}

describe("catch_up", () => {
  it("reports pace and time to the head within 10 % while a target catches up, slows, falls behind and stops", () => {
    const play = threeHoursBehind();

    for (const { pace, perSecond, text } of [
      {
        pace: 4,
        perSecond: 1.5,
        text: /; catching up at 1.5 blocks a second, at the head in about \d+ min$/,
      },
      { pace: 1.3, perSecond: 0.15, text: /; catching up at 9 blocks a minute, at the head in about \d+ h/ },
      { pace: 0.5, perSecond: -0.25, text: /; at this pace it never catches up$/ },
    ]) {
      play.script("multichain", indexing(play, play.target("multichain").block_number ?? 0, pace)).run("13m");

      const { catch_up: said, detail, lag_blocks: blocks } = play.target("multichain");
      const eta = perSecond > 0 ? (blocks ?? 0) / perSecond : null;
      expect(said?.blocks_per_second).toBeCloseTo(perSecond, 1);
      expect(Math.abs((said?.blocks_per_second ?? 0) / perSecond - 1)).toBeLessThan(0.1);
      expect(Math.abs((said?.eta_seconds ?? 0) - (eta ?? 0))).toBeLessThanOrEqual((eta ?? 0) / 10);
      expect(said?.eta_seconds === null).toBe(eta === null);
      expect(detail).toMatch(text);
      expect(play.values("synclag_catch_up_blocks_per_second")).toEqual([said?.blocks_per_second]);
      expect(play.values("synclag_eta_seconds")).toEqual([said?.eta_seconds].filter(Number));
    }
    const stuck = play.target("multichain").block_number ?? 0;
    play.script("multichain", () => stuck).run("9m");
    expect(play.target("multichain")).toMatchObject({ status: "lagging", catch_up: { eta_seconds: null } });
    play.run("10m");
    expect(play.target("multichain")).toMatchObject({ status: "stalled", catch_up: null });
    expect(play.values("synclag_catch_up_blocks_per_second")).toEqual([]);
  });

  it("goes by block times for the only source of a chain", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"]));
    play.script("multichain", ({ head, time }) => {
      const block = FIRST_BLOCK - LATE_BLOCKS + (head - FIRST_BLOCK) * 3;
      return { block, timestampSec: time(block) };
    });

    play.run("15m");

    // It is 3 h - 30 min behind, and gains 2 s in each.
    expect(play.target("multichain").lag_blocks).toBeNull();
    expect(play.target("multichain").catch_up?.blocks_per_second).toBeCloseTo(1, 1);
    expect(Math.abs((play.target("multichain").catch_up?.eta_seconds ?? 0) - 4_500)).toBeLessThan(450);
  });

  it("says nothing before some minutes have shown it, nor of a target that is ok", () => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 10)).run("2m");

    expect(play.target("multichain")).toMatchObject({ status: "syncing", catch_up: null });
    expect(play.run("20m").target("multichain")).toMatchObject({ status: "ok", catch_up: null });
  });

  it.each([
    { name: "block by block", batch: 1 },
    { name: "in batches of three minutes", batch: 97 },
    { name: "in batches of seven minutes", batch: 211 },
  ])("says `never`, and keeps to it, of a target that keeps its distance $name", ({ batch }) => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 1, batch));

    expect(wordsDuring(play, 120)).toEqual(["nothing", "never"]);
  });

  it("says `never` of a target that has caught up for some time, and then keeps its distance", () => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 3)).run("15m");
    const { block_number: block, catch_up: before } = play.target("multichain");
    play.script("multichain", indexing(play, block ?? 0, 1)).run("20m");

    expect(before?.eta_seconds).toBeGreaterThan(0);
    expect(play.target("multichain").catch_up).toMatchObject({ eta_seconds: null });
  });

  it("keeps its estimate if a target catches up in uneven batches", () => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 1.5, 211));

    expect(wordsDuring(play, 90)).toEqual(["nothing", "eta"]);
  });

  it("resets after a re-index, and survives a restart", () => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 3)).run("10m");
    const before = play.target("multichain").catch_up;

    expect(play.restart().target("multichain").catch_up).toEqual(before);

    play.script("multichain", indexing(play, play.head() - 100_000, 3));
    expect(wordsDuring(play, 10)).toEqual(["eta", "nothing", "eta"]);
    expect(play.target("multichain").catch_up?.blocks_per_second).toBeCloseTo(1, 1);
  });
});
