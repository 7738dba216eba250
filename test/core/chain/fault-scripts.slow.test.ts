import { describe, expect, it } from "vitest";
import { FAULT_SCRIPTS } from "../../../bench/accuracy/fault-script.ts";
import { playFault } from "../../../bench/accuracy/play-fault.ts";
import { playWobble } from "../../../bench/accuracy/wobble.ts";

describe("observeChain() in scripted faults", () => {
  it.each(FAULT_SCRIPTS)(
    "says $expected within two polls, and ok within two, when a target $name",
    (script) => {
      const outcome = playFault(script);

      expect(outcome.pollsToKnow).toBeLessThanOrEqual(2);
      expect(outcome.pollsToRecover).toBeLessThanOrEqual(2);
      expect(outcome.judged.filter(({ expected, said }) => expected !== said)).toEqual([]);
    },
  );
});

describe("observeChain() in healthy wobble", () => {
  it.each([
    { name: "quick", blockTimeMs: 250, wobbleBlocks: 200 },
    { name: "slow", blockTimeMs: 12_000, wobbleBlocks: 40 },
  ])("changes no status on a $name chain", (wobble) => {
    const figures = playWobble({ ...wobble, reorgBlocks: 64, hours: 3 });

    expect(figures.changes).toEqual([]);
    expect(figures.reindexes).toBe(0);
    expect(figures.stepsBack).toBeGreaterThan(100);
  });
});
