import { describe, expect, it } from "vitest";
import { restartWorld, takeoverWorld } from "../../../bench/accuracy/restart-worlds.ts";
import { playWorld } from "../../../bench/accuracy/worlds.ts";

const NOTHING = { accused: [], untold: [], wrongReference: [], noReference: [] };

// A part of what bench/accuracy-sweeps.ts plays.
describe("random worlds with restarts", () => {
  it.each([
    ...[0, 1, 2].map((index) => ({ case: `in the middle of world ${index}`, world: restartWorld(index) })),
    ...[1, 2, 3, 125].map((index) => ({
      case: `after liars ruled world ${index}`,
      world: takeoverWorld(index),
    })),
  ])("are told right after a restart $case", ({ world }) => {
    const { accused, untold, wrongReference, noReference } = playWorld({ ...world, lastsMs: 24 * 60_000 }, 0);

    expect({ accused, untold, wrongReference, noReference }).toEqual(NOTHING);
  });
});
