import { describe, expect, it } from "vitest";
import type { TargetReport } from "../../src/core/model/report.ts";
import { behind, type Script, ScriptedFleet } from "../support/scripted-fleet.ts";
import { TRIO } from "./statuses/fleets.ts";

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

// test/fixtures/stories/catch-up.txt has the rest.
describe("catch_up", () => {
  it.each([
    { name: "block by block", batch: 1 },
    { name: "in batches of three minutes", batch: 97 },
    { name: "in batches of seven minutes", batch: 211 },
  ])("says `never`, and keeps to it, of a target that keeps its distance $name", ({ batch }) => {
    const play = threeHoursBehind();
    play.script("multichain", indexing(play, play.head() - LATE_BLOCKS, 1, batch));

    expect(wordsDuring(play, 120)).toEqual(["nothing", "never"]);
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
