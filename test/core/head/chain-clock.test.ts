import { describe, expect, it } from "vitest";
import {
  type ChainClock,
  measuredIntervalMs,
  NEW_CLOCK,
  noteTimestamp,
  recentIntervalMs,
  recordHead,
  referenceAt,
  timeBetween,
  timeOfBlock,
} from "../../../src/core/head/chain-clock.ts";
import { EMPTY_TIMELINE, type Timeline } from "../../../src/core/head/timeline.ts";

const SLOW_MS = 12_000;
/** Blocks reach sources so much later than they are made: by this one tells seen times from reported ones. */
const DELAY_MS = 10_000;

/** Even points, ten blocks apart, of a chain that made block 0 at `startMs`. */
function even(first: number, last: number, { intervalMs = SLOW_MS, startMs = 0 } = {}): Timeline {
  const blocks = Array.from({ length: (last - first) / 10 + 1 }, (_, index) => first + index * 10);
  return { blocks, timesMs: blocks.map((block) => startMs + block * intervalMs) };
}

const SEEN = even(1_000, 1_100, { startMs: DELAY_MS });
const BOTH: ChainClock = { reported: even(500, 1_100), seen: SEEN };

describe("measuredIntervalMs()", () => {
  const reported = even(500, 1_100, { intervalMs: 13_000, startMs: -1_100_000 });

  it.each([
    { case: "by what was reported, while that is fresh", clock: { reported, seen: SEEN }, is: 13_000 },
    {
      case: "by what was reported, if nothing was seen",
      clock: { reported, seen: EMPTY_TIMELINE },
      is: 13_000,
    },
    { case: "by what was seen, if nothing was reported", clock: { ...NEW_CLOCK, seen: SEEN }, is: 12_000 },
    {
      case: "by what was seen, where the reported times are old",
      clock: { reported: even(500, 1_080, { intervalMs: 13_000, startMs: -1_100_000 }), seen: SEEN },
      is: 12_000,
    },
    {
      case: "by what was seen, where too little was reported",
      clock: { reported: even(1_090, 1_100), seen: SEEN },
      is: 12_000,
    },
    { case: "as unknown at first", clock: NEW_CLOCK, is: null },
  ])("is told $case", ({ clock, is }) => {
    expect(measuredIntervalMs(clock)).toBe(is);
  });
});

describe("recentIntervalMs()", () => {
  it("goes by what was seen in the last minute", () => {
    const before = even(1_000, 1_500, { intervalMs: 2_000 });
    const after = even(1_510, 1_600, { intervalMs: 1_000, startMs: 1_500_000 });
    const seen = {
      blocks: [...before.blocks, ...after.blocks],
      timesMs: [...before.timesMs, ...after.timesMs],
    };

    expect(recentIntervalMs({ reported: even(500, 1_600), seen })).toBe(1_000);
  });
});

describe("seeReference()", () => {
  const clock: ChainClock = { ...NEW_CLOCK, seen: { blocks: [1_000], timesMs: [1_000_000] } };

  it("takes a first sighting as it is", () => {
    const { seen } = recordHead(NEW_CLOCK, { block: 1_000, atMs: 1_000_000, slackMs: 100 }, 2_000);

    expect(seen).toEqual({ blocks: [1_000], timesMs: [1_000_000] });
  });

  it("takes every sighting as it is while nobody knows the pace", () => {
    const { seen } = recordHead(clock, { block: 1_010, atMs: 1_020_500, slackMs: 100 }, null);

    expect(seen.timesMs).toEqual([1_000_000, 1_020_500]);
  });

  it.each([
    { case: "near the even pace is drawn to it", atMs: 1_020_500, seenMs: 1_020_200 },
    { case: "late is believed but for half a block and its slack", atMs: 1_030_000, seenMs: 1_028_900 },
    { case: "early is believed but for half a block and its slack", atMs: 1_015_000, seenMs: 1_016_100 },
  ])("a sighting that is $case", ({ atMs, seenMs }) => {
    const { seen } = recordHead(clock, { block: 1_010, atMs, slackMs: 100 }, 2_000);

    expect(seen.timesMs).toEqual([1_000_000, seenMs]);
  });

  it("goes by the pace of the last minute rather than by the longer one", () => {
    const steady: ChainClock = { ...NEW_CLOCK, seen: even(1_000, 1_100, { intervalMs: 2_000 }) };

    const { seen } = recordHead(steady, { block: 1_110, atMs: 2_220_500, slackMs: 100 }, 4_000);

    expect(seen.timesMs.at(-1)).toBe(2_220_200);
  });

  it.each([
    { case: "three block times and the slack are no pause", atMs: 1_006_100, blocks: [1_000] },
    { case: "longer is a pause", atMs: 1_006_101, blocks: [1_000, 1_000] },
  ])("$case", ({ atMs, blocks }) => {
    expect(recordHead(clock, { block: 1_000, atMs, slackMs: 100 }, 2_000).seen.blocks).toEqual(blocks);
  });
});

describe("noteTimestamp()", () => {
  it("adds a time in milliseconds", () => {
    expect(noteTimestamp(NEW_CLOCK, 7, 84).reported).toEqual({ blocks: [7], timesMs: [84_000] });
  });

  it("is the same clock where nothing is new", () => {
    expect(noteTimestamp(BOTH, 500, 6_000)).toBe(BOTH);
  });
});

describe("referenceAt()", () => {
  it("goes on at the chain's pace for a minute", () => {
    const lastMs = 1_100 * SLOW_MS + DELAY_MS;

    expect(referenceAt(BOTH, lastMs - 6_000, SLOW_MS)).toBe(1_099.5);
    expect(referenceAt(BOTH, lastMs + 60_000, SLOW_MS)).toBe(1_105);
    expect(referenceAt(BOTH, lastMs + 600_000, SLOW_MS)).toBe(1_105);
  });
});

describe("timeOfBlock()", () => {
  const late = { reported: even(1_020, 1_100), seen: SEEN };
  const same = { reported: even(1_000, 1_100), seen: SEEN };

  it.each([
    { case: "a slow chain, both know", clock: BOTH, block: 1_050, intervalMs: SLOW_MS, by: "reported" },
    { case: "a chain of unknown pace", clock: BOTH, block: 1_050, intervalMs: null, by: "reported" },
    { case: "just slow enough", clock: BOTH, block: 1_050, intervalMs: 2_500, by: "reported" },
    { case: "too quick for whole seconds", clock: BOTH, block: 1_050, intervalMs: 2_499, by: "seen" },
    { case: "a quick chain, the first seen", clock: BOTH, block: 1_000, intervalMs: 2_000, by: "seen" },
    { case: "a quick chain, one before", clock: BOTH, block: 999, intervalMs: 2_000, by: "reported" },
    { case: "only seen so far back", clock: late, block: 1_010, intervalMs: SLOW_MS, by: "seen" },
    { case: "the first reported", clock: late, block: 1_020, intervalMs: SLOW_MS, by: "reported" },
    { case: "before both", clock: same, block: 990, intervalMs: SLOW_MS, by: "reported" },
    {
      case: "reported times two minutes old",
      clock: { reported: even(500, 1_100, { startMs: DELAY_MS - 120_000 }), seen: SEEN },
      block: 1_050,
      intervalMs: SLOW_MS,
      by: "old",
    },
    {
      case: "older reported times",
      clock: { reported: even(500, 1_100, { startMs: DELAY_MS - 120_001 }), seen: SEEN },
      block: 1_050,
      intervalMs: SLOW_MS,
      by: "seen",
    },
    {
      case: "nothing seen",
      clock: { ...BOTH, seen: EMPTY_TIMELINE },
      block: 1_050,
      intervalMs: 2_000,
      by: "reported",
    },
    {
      case: "nothing reported",
      clock: { ...BOTH, reported: EMPTY_TIMELINE },
      block: 1_050,
      intervalMs: SLOW_MS,
      by: "seen",
    },
  ] as const)("goes by the $by times: $case", ({ clock, block, intervalMs, by }) => {
    const delays = { reported: 0, seen: DELAY_MS, old: DELAY_MS - 120_000 };

    const time = timeOfBlock(clock, block, intervalMs);

    expect(time?.timeMs).toBe(block * SLOW_MS + delays[by]);
  });
});

describe("timeBetween()", () => {
  it("takes both ends from one history, so that delays cancel", () => {
    const span = { from: 1_050, fromTimestampSec: null, to: 1_100 };

    expect(timeBetween(BOTH, span, SLOW_MS)).toEqual({ ms: 600_000, extrapolated: false });
    expect(timeBetween({ ...BOTH, reported: EMPTY_TIMELINE }, span, SLOW_MS)?.ms).toBe(600_000);
  });

  it("believes the block's own timestamp, even of a block before all that is known", () => {
    const span = { from: 400, fromTimestampSec: 5_000, to: 1_100 };

    expect(timeBetween(BOTH, span, SLOW_MS)).toEqual({ ms: 13_200_000 - 5_000_000, extrapolated: false });
  });

  it("leaves a timestamp aside where it goes by what was seen", () => {
    const span = { from: 1_050, fromTimestampSec: 5_000, to: 1_100 };

    expect(timeBetween(BOTH, span, 2_000)?.ms).toBe(600_000);
  });

  it("tells that a block before the history is extrapolated", () => {
    const span = { from: 400, fromTimestampSec: null, to: 1_100 };

    expect(timeBetween(BOTH, span, SLOW_MS)).toEqual({ ms: 8_400_000, extrapolated: true });
  });

  it("is never negative", () => {
    expect(timeBetween(BOTH, { from: 1_100, fromTimestampSec: null, to: 1_050 }, SLOW_MS)?.ms).toBe(0);
  });

  it.each([
    { case: "its beginning", span: { from: 400, fromTimestampSec: null, to: 1_100 } },
    { case: "its end", span: { from: 1_050, fromTimestampSec: 12_600, to: 1_200 } },
  ])("is null where nobody can tell $case", ({ span }) => {
    expect(timeBetween(BOTH, span, null)).toBeNull();
  });
});
