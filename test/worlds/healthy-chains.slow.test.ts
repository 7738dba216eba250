import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { PACE_CASES, paceRowOf, wobbleRowOf } from "./healthy-chains.ts";

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
    const row = wobbleRowOf({ ...wobble, reorgBlocks: 64, hours: 3 }, startMonitor);

    expect(row).toMatchObject({ "changes of status": 0, "taken for re-indexes": 0 });
    expect(row["steps back"]).toBeGreaterThan(100);
  });
});
