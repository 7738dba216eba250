import { describe, expect, it } from "vitest";
import { isDiscontinuous, updateReference } from "../../../src/core/head/reference.ts";
import { NOW, reference, update, vote } from "../../support/reference-votes.ts";

const HOUR_MS = 3_600_000;
const NOW_SEC = NOW / 1_000;
/** What the chain can have made in the 15 s since the reference was seen: its burst, and some blocks. */
const BURST = 16 + (4 * 75) / 2;

const PREVIOUS = reference(1_000);

describe("updateReference() of a known head", () => {
  it("stays firm when those who confirm it are new", () => {
    const fresh = vote(1_001, { steady: false });

    expect(update(PREVIOUS, fresh, fresh)).toMatchObject({ block: 1_001, firm: true });
    expect(update({ ...PREVIOUS, firm: false }, fresh, fresh)?.firm).toBe(false);
  });

  it("is not made firm by sources that are behind", () => {
    const behind = vote(1_000, { weight: "behind" });

    expect(update({ ...PREVIOUS, firm: false }, behind, behind)).toMatchObject({ block: 1_000, firm: false });
  });

  it("is not confirmed by sources that are not believed", () => {
    const suspect = vote(1_000, { weight: "suspect" });

    expect(update(PREVIOUS, suspect, suspect)).toBe(PREVIOUS);
  });

  it("is seen when the first of many that are behind gave it", () => {
    const votes = [5_000, 0, 10_000].map((agoMs) => vote(1_000, { weight: "behind", atMs: NOW - agoMs }));

    expect(update(PREVIOUS, ...votes)?.atMs).toBe(NOW - 10_000);
  });

  it.each([
    { agoMs: 6 * HOUR_MS, block: 1_000 },
    { agoMs: 6 * HOUR_MS + 1, block: 900 },
  ])("is $block, $agoMs ms after the evidence for 1,000 became stale", ({ agoMs, block }) => {
    const stale = { ...PREVIOUS, freshUntilMs: NOW - agoMs };

    expect(update(stale, vote(900), vote(900))?.block).toBe(block);
  });

  it.each([
    { block: 1_000 + BURST, former: null },
    { block: 1_001 + BURST, former: { block: 1_000, atMs: NOW - 15_000 } },
  ])("remembers $former when it goes on to $block", ({ block, former }) => {
    expect(update(PREVIOUS, vote(block), vote(block))?.former).toEqual(former);
  });

  it("follows the higher of two that contradict each other", () => {
    const votes = [1_001, 1_400].map((block) => vote(block, { timestampSec: NOW_SEC }));

    expect(update(PREVIOUS, ...votes)?.block).toBe(1_400);
  });

  it.each([
    { block: 1_000 + BURST, found: 1_000 + BURST },
    { block: 1_001 + BURST, found: 9_000 },
  ])("is $found after a jump to 9,000 when all say $block again", ({ block, found }) => {
    const jumped = { ...PREVIOUS, block: 9_000, former: { block: 1_000, atMs: NOW - 15_000 } };

    expect(update(jumped, vote(block), vote(block))?.block).toBe(found);
  });
});

describe("updateReference() of a new head", () => {
  it("takes the only one that is believed of several", () => {
    const [sound, suspect] = [vote(1_000, { timestampSec: NOW_SEC }), vote(5, { weight: "suspect" })];

    expect(update(null, sound, suspect)?.block).toBe(1_000);
  });

  it.each([
    { case: "as far apart as two minutes' burst", high: 1_376, block: 1_376 },
    { case: "further apart", high: 1_377, block: undefined },
  ])("takes $block of two heights of one time that are $case", ({ high, block }) => {
    const votes = [1_000, high].map((height) => vote(height, { timestampSec: NOW_SEC }));

    expect(update(null, ...votes)?.block).toBe(block);
  });

  it("finds no contradiction where only one tells its time", () => {
    expect(update(null, vote(2_000), vote(1_000, { timestampSec: NOW_SEC }))?.block).toBe(2_000);
    expect(update(null, vote(1_000, { timestampSec: NOW_SEC }), vote(2_000))?.block).toBe(2_000);
  });

  it.each([
    { case: "first", agoMs: [5_000, 0] },
    { case: "last", agoMs: [0, 5_000] },
  ])("counts the earliest of equal heights, told $case", ({ agoMs }) => {
    const votes = agoMs.map((ms) => vote(1_000, { atMs: NOW - ms }));

    expect(update(null, ...votes)).toMatchObject({ block: 1_000, reachedMs: NOW - 5_000 });
  });

  it("takes the higher of two, though it was read later", () => {
    expect(update(null, vote(1_000), vote(990, { atMs: NOW - 5_000 }))).toMatchObject({
      block: 1_000,
      reachedMs: NOW,
    });
  });

  it("takes the second highest where nobody knows the pace", () => {
    const pace = { intervalMs: null, measured: false };

    const found = updateReference(null, [vote(1_100), vote(900), vote(1_000)], { nowMs: NOW, pace });

    expect(found?.block).toBe(1_000);
  });

  it("carries a rarely asked source on to the instant of the newest", () => {
    const top = vote(1_100, { pollIntervalMs: 60_000 });
    const rare = vote(1_090, { pollIntervalMs: 60_000, atMs: NOW - 60_000 });

    expect(update(null, top, rare, vote(1_080))?.block).toBe(1_100);
  });

  it.each([
    { case: "in the same round", second: [1_080, 22_500], top: 1_100, block: 1_080 },
    { case: "a round later", second: [1_080, 22_501], top: 1_100, block: 1_100 },
    { case: "as high as the chain can be by then", second: [1_000, 30_000], top: 1_196, block: 1_196 },
    { case: "higher", second: [1_000, 30_000], top: 1_197, block: 1_000 },
  ] as const)("takes $block where the top one was asked again $case", ({ second, top, block }) => {
    const [height, agoMs] = second;

    expect(update(null, vote(top), vote(height, { atMs: NOW - agoMs }), vote(900))?.block).toBe(block);
  });
});

describe("hasLeapt()", () => {
  it("is false while the head stands still", () => {
    expect(isDiscontinuous(PREVIOUS, { ...PREVIOUS, atMs: NOW })).toBe(false);
  });
});
