import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { playWobble } from "./healthy-days.ts";
import { PACE_CASES, paceRowOf } from "./restless-chains.ts";

// A part of what `npm run worlds` plays.
describe("a restless chain", () => {
  it.each(PACE_CASES)("that $name has no healthy target bad, and no lag at its head", (given) => {
    expect(paceRowOf(given, 1, startMonitor)).toMatchObject({
      "a healthy target bad": 0,
      "a lag at the reference's block": 0,
    });
  });
});

describe("a healthy chain that wobbles", () => {
  it.each([
    { name: "quick", blockTimeMs: 250, wobbleBlocks: 200 },
    { name: "slow", blockTimeMs: 12_000, wobbleBlocks: 40 },
  ])("changes no status: a $name one", (wobble) => {
    const figures = playWobble({ ...wobble, reorgBlocks: 64, hours: 3 }, startMonitor);

    expect(figures.changes).toEqual([]);
    expect(figures.reindexes).toBe(0);
    expect(figures.stepsBack).toBeGreaterThan(100);
  });
});
