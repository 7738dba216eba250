import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { FAULT_SCRIPTS } from "./fault-scripts.ts";
import { playWobble } from "./healthy-days.ts";
import { playFault } from "./play-fault.ts";

describe("a scripted fault", () => {
  it.each(FAULT_SCRIPTS)(
    "is told as $expected within two polls, and as ok within two of its end: $name",
    (script) => {
      const outcome = playFault(script, startMonitor);

      expect(outcome.pollsToKnow).toBeLessThanOrEqual(2);
      expect(outcome.pollsToRecover).toBeLessThanOrEqual(2);
      expect(outcome.wrong).toEqual([]);
    },
  );
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
