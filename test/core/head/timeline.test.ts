import { describe, expect, it } from "vitest";
import {
  blockAt,
  EMPTY_TIMELINE,
  extendTimeline,
  insertPoint,
  measureInterval,
  type Timeline,
  timeOf,
} from "../../../src/core/head/timeline.ts";

function timeline(...points: readonly (readonly [number, number])[]): Timeline {
  return { blocks: points.map(([block]) => block), timesMs: points.map(([, timeMs]) => timeMs) };
}

const EVEN = timeline([100, 10_000], [110, 20_000], [120, 30_000]);

describe("extendTimeline()", () => {
  it.each([
    { case: "appends a higher block", add: [130, 40_000], last: [120, 130] },
    { case: "keeps the first time of a block that stands still", add: [120, 40_000], last: [120, 120] },
    { case: "ignores a lower block", add: [119, 40_000], last: [110, 120] },
    { case: "lets a point give way that is not older", add: [130, 30_000], last: [110, 130] },
    {
      case: "forgets what our clock has not reached after it was set back",
      add: [130, 15_000],
      last: [100, 130],
    },
  ] as const)("$case", ({ add: [block, timeMs], last }) => {
    const extended = extendTimeline(EVEN, block, timeMs);

    expect(extended.blocks.slice(-2)).toEqual(last);
    expect(extended.timesMs).toEqual(extended.timesMs.toSorted((a, b) => a - b));
  });

  it("moves the end of a plateau instead of adding points to it", () => {
    const plateau = [40_000, 50_000, 60_000].reduce(
      (grown, timeMs) => extendTimeline(grown, 120, timeMs),
      EVEN,
    );

    expect(plateau).toEqual(timeline([100, 10_000], [110, 20_000], [120, 30_000], [120, 60_000]));
  });

  it("keeps the bend of a changed pace and days of history within its bounds", () => {
    let grown = EMPTY_TIMELINE;
    for (let minute = 0; minute <= 3_000; minute += 1) {
      const block = minute <= 2_000 ? minute * 30 : 60_000 + (minute - 2_000) * 15;
      grown = extendTimeline(grown, block, minute * 60_000);
    }

    expect(grown.blocks.length).toBeLessThanOrEqual(240);
    expect(timeOf(grown, 0, null)).toEqual({ timeMs: 0, extrapolated: false });
    expect(Math.abs((timeOf(grown, 59_000, null)?.timeMs ?? 0) - (59_000 / 30) * 60_000)).toBeLessThan(5_000);
    expect(Math.abs((timeOf(grown, 61_000, null)?.timeMs ?? 0) - (2_000 + 1_000 / 15) * 60_000)).toBeLessThan(
      5_000,
    );
  });
});

describe("extendTimeline() beyond its bounds", () => {
  /** A point each 10 s, of 10 blocks each. */
  const full = Array.from({ length: 240 }, (_, index) => [index * 10, index * 10_000] as const);

  /** The inner points that are gone after another point is added at the end. */
  function dropped(points: readonly (readonly [number, number])[]): readonly number[] {
    const { blocks } = extendTimeline(timeline(...points), 2_400, 2_400_000);
    return points
      .map(([block], index) => (blocks.includes(block) ? -1 : index))
      .filter((index) => index >= 0);
  }

  it.each<{
    readonly case: string;
    readonly moved: readonly (readonly [number, readonly [number, number]])[];
    readonly gone: number;
  }>([
    { case: "the oldest inner point of many that are even", moved: [], gone: 1 },
    { case: "no point that a bend needs", moved: [[1, [10, 11_000]]], gone: 3 },
    { case: "a bent point rather than one much younger", moved: [[1, [10, 10_001]]], gone: 1 },
    {
      case: "one of three that are close together",
      moved: [
        [120, [1_191, 1_191_000]],
        [121, [1_192, 1_192_000]],
      ],
      gone: 120,
    },
    {
      case: "no end of a pause",
      moved: [
        [1, [10, 5_000]],
        [2, [10, 20_000]],
      ],
      gone: 4,
    },
  ])("drops $case", ({ moved, gone }) => {
    const changed = new Map(moved);

    expect(dropped(full.map((point, index) => changed.get(index) ?? point))).toEqual([gone]);
  });

  it("keeps as many points as it may", () => {
    expect(extendTimeline(timeline(...full.slice(1)), 2_400, 2_400_000).blocks).toHaveLength(240);
    expect(extendTimeline(timeline(...full), 2_400, 2_400_000).blocks).toHaveLength(240);
  });
});

describe("insertPoint()", () => {
  it.each([
    { case: "between two", point: [105, 14_000], blocks: [100, 105, 110, 120] },
    { case: "before all", point: [50, 1_000], blocks: [50, 100, 110, 120] },
    { case: "after all", point: [125, 30_000], blocks: [100, 110, 120, 125] },
  ] as const)("adds a point $case", ({ point: [block, timeMs], blocks }) => {
    expect(insertPoint(EVEN, block, timeMs).blocks).toEqual(blocks);
  });

  it.each([
    { case: "is known", point: [110, 19_000] },
    { case: "is later than a higher block", point: [105, 20_001] },
    { case: "is earlier than a lower block", point: [105, 9_999] },
    { case: "is above all and earlier than the last", point: [125, 29_999] },
  ] as const)("changes nothing where a block $case", ({ point: [block, timeMs] }) => {
    expect(insertPoint(EVEN, block, timeMs)).toBe(EVEN);
  });
});

describe("timeOf()", () => {
  it.each([
    { block: 100, time: { timeMs: 10_000, extrapolated: false } },
    { block: 110, time: { timeMs: 20_000, extrapolated: false } },
    { block: 113, time: { timeMs: 23_000, extrapolated: false } },
    { block: 90, time: { timeMs: 5_000, extrapolated: true } },
    { block: 122, time: { timeMs: 31_000, extrapolated: true } },
  ])("is $time for block $block", ({ block, time }) => {
    expect(timeOf(EVEN, block, 500)).toEqual(time);
  });

  it("is the beginning of a plateau, and its end for what comes after", () => {
    const paused = timeline([100, 10_000], [110, 20_000], [110, 90_000], [120, 100_000]);

    expect(timeOf(paused, 110, null)?.timeMs).toBe(20_000);
    expect(timeOf(paused, 115, null)?.timeMs).toBe(95_000);
  });

  it.each([
    { case: "there are no points", line: EMPTY_TIMELINE, block: 1 },
    { case: "a block is outside and nobody knows the interval", line: EVEN, block: 121 },
  ])("is null where $case", ({ line, block }) => {
    expect(timeOf(line, block, null)).toBeNull();
  });
});

describe("blockAt()", () => {
  const beyond = { intervalMs: 1_000, horizonMs: 5_000 };

  it.each([
    { atMs: 20_000, block: 110 },
    { atMs: 25_000, block: 115 },
    { atMs: 33_000, block: 123 },
    { atMs: 99_000, block: 125 },
    { atMs: 7_000, block: 97 },
    { atMs: 5_000, block: 95 },
    { atMs: 4_999, block: null },
  ])("is $block at $atMs", ({ atMs, block }) => {
    expect(blockAt(EVEN, atMs, beyond)).toBe(block);
  });

  it("stays at the last block where nobody knows the interval", () => {
    expect(blockAt(EVEN, 33_000, { ...beyond, intervalMs: null })).toBe(120);
  });

  it("is null without points", () => {
    expect(blockAt(EMPTY_TIMELINE, 33_000, beyond)).toBeNull();
  });
});

describe("measureInterval()", () => {
  it.each([
    {
      case: "over the window",
      span: { windowMs: 10_000, leastSpanMs: 1_000, leastBlocks: 1 },
      interval: 1_000,
    },
    {
      case: "over more than the window where that is too short",
      span: { windowMs: 0, leastSpanMs: 15_000, leastBlocks: 1 },
      interval: 1_000,
    },
    {
      case: "over more than the window where that has too few blocks",
      span: { windowMs: 0, leastSpanMs: 1, leastBlocks: 11 },
      interval: 1_000,
    },
    {
      case: "not at all where the points span too few blocks",
      span: { windowMs: 60_000, leastSpanMs: 1, leastBlocks: 21 },
      interval: null,
    },
    {
      case: "not at all where the points span too little",
      span: { windowMs: 60_000, leastSpanMs: 20_001, leastBlocks: 1 },
      interval: null,
    },
  ])("measures $case", ({ span, interval }) => {
    expect(measureInterval(EVEN, span)).toBe(interval);
  });

  it("leaves out the standstill at the end", () => {
    const paused = timeline([100, 10_000], [110, 20_000], [110, 90_000]);

    expect(measureInterval(paused, { windowMs: 600_000, leastSpanMs: 1, leastBlocks: 1 })).toBe(1_000);
  });

  it.each([
    { case: "a halt that another timeline shows", untilMs: 1_200_000, interval: 1_000 },
    { case: "no pause of less than a minute", untilMs: 79_999, interval: 4_000 },
  ])("leaves out $case", ({ untilMs, interval }) => {
    const reported = timeline([100, 10_000], [110, 20_000], [120, untilMs - 20_000 + 30_000]);
    const seen = timeline([110, 20_000], [110, untilMs]);
    const span = { windowMs: 600_000, leastSpanMs: 1, leastBlocks: 20 };

    expect(Math.round((measureInterval(reported, span, seen) ?? 0) / 1_000) * 1_000).toBe(interval);
  });

  it("measures over all of the window, though less would do", () => {
    const slower = timeline([100, 10_000], [110, 20_000], [115, 30_000], [120, 40_000]);

    expect(measureInterval(slower, { windowMs: 30_000, leastSpanMs: 1, leastBlocks: 1 })).toBe(1_500);
  });

  it("follows the newest pace within the window", () => {
    const slower = timeline([100, 10_000], [110, 20_000], [115, 30_000]);

    expect(measureInterval(slower, { windowMs: 10_000, leastSpanMs: 1_000, leastBlocks: 1 })).toBe(2_000);
  });

  it.each([EMPTY_TIMELINE, timeline([1, 1]), timeline([1, 1], [1, 90_000])])(
    "is null where nothing has moved",
    (line) => {
      expect(measureInterval(line, { windowMs: 60_000, leastSpanMs: 1, leastBlocks: 1 })).toBeNull();
    },
  );
});
