import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChainHistory } from "../../../src/core/history/history.ts";
import { sampleChainReport, sampleGap, sampleTargetReport } from "../../views/sample-report.ts";
import {
  blockAt,
  HOUR_MS,
  KEY,
  MINUTE_MS,
  recorded,
  reportAt,
  START_MS,
  SUBGRAPH,
  whole,
} from "./history-fixture.ts";

const DAY_MS = 24 * HOUR_MS;
/** Of sums of doubles of this size, in blocks. */
const ROUNDING = 1e-6;

describe("ChainHistory", () => {
  it("keeps height, lag, gap and reference", () => {
    const history = new ChainHistory();
    history.record(reportAt(START_MS), START_MS);

    expect(history.read([SUBGRAPH.key], whole(START_MS))).toEqual({
      timesMs: [START_MS],
      reference: [blockAt(START_MS)],
      targets: {
        [SUBGRAPH.key]: {
          block: [blockAt(START_MS) - 2],
          lagMs: [4_000],
          gapBlocks: [1.5],
          uncertaintyBlocks: [0.5],
        },
      },
    });
  });

  it("has null for what is unknown, and for a target that was never recorded", () => {
    const history = new ChainHistory();
    const target = sampleTargetReport({ lagMs: null });
    history.record(sampleChainReport({ reference: null, targets: [target], gaps: [] }), START_MS);

    const slice = history.read([KEY, "never"], whole(START_MS));

    expect(slice.reference).toEqual([null]);
    const unknown = { block: [null], lagMs: [null], gapBlocks: [null], uncertaintyBlocks: [null] };
    expect(slice.targets).toEqual({ [KEY]: { ...unknown, block: [target.block] }, never: unknown });
  });

  it("is empty before anything is known", () => {
    const history = new ChainHistory();
    const unknown = sampleTargetReport({ block: null, lagMs: null });
    history.record(sampleChainReport({ reference: null, targets: [unknown] }), START_MS);

    expect(history.read([KEY], whole(START_MS)).timesMs).toEqual([]);

    history.record(reportAt(START_MS + 1_000), START_MS + 1_000);

    expect(history.read([KEY], whole(START_MS + 1_000)).timesMs).toEqual([START_MS + 1_000]);
    expect(history.read([KEY], whole(START_MS - 1)).timesMs).toEqual([]);
  });

  it.each([
    { case: "less than 15 s after the last", laterMs: 14_999, lags: [4_000] },
    { case: "15 s after the last", laterMs: 15_000, lags: [9_000] },
    { case: "less than 15 s before it, after the clock was set back", laterMs: -14_999, lags: [4_000] },
    { case: "15 s before it, after the clock was set back", laterMs: -15_000, lags: [9_000] },
  ])("takes at most one sample each 15 s: one $case", ({ laterMs, lags }) => {
    const history = new ChainHistory();
    const firstMs = START_MS + 30_000;
    history.record(reportAt(firstMs), firstMs);

    history.record(reportAt(firstMs + laterMs, 9_000), firstMs + laterMs);

    expect(history.read([KEY], whole(firstMs)).targets[KEY]?.lagMs).toEqual(lags);
  });

  it.each([0, 1, 2, 3, 4])(
    "has each time once, from the first to the last, where the minutes end %d after a step of five",
    (minutes) => {
      const endMs = START_MS + 150 * MINUTE_MS + minutes * MINUTE_MS;

      const { timesMs } = recorded(START_MS, endMs).read([KEY], whole(endMs));

      expect(timesMs).toEqual([...new Set(timesMs)]);
      expect([timesMs.at(0), timesMs.at(-1)]).toEqual([START_MS, endMs]);
    },
  );

  it("keeps two hours by the minute and a day by five minutes", () => {
    const endMs = START_MS + 3 * DAY_MS + 2 * MINUTE_MS;

    const { timesMs, targets, reference } = recorded(START_MS, endMs).read([KEY], whole(endMs));

    const steps = timesMs.map((timeMs, index) => timeMs - (timesMs[index - 1] ?? 0)).slice(1);
    expect(endMs - (timesMs[0] ?? 0)).toBeGreaterThan(DAY_MS - 5 * MINUTE_MS);
    expect(timesMs.filter((timeMs) => timeMs > endMs - 2 * HOUR_MS)).toHaveLength(120);
    expect(new Set(steps.slice(-119))).toEqual(new Set([MINUTE_MS]));
    expect(new Set(steps.slice(0, -120))).toEqual(new Set([5 * MINUTE_MS]));
    expect(targets[KEY]?.block).toEqual(timesMs.map((timeMs) => blockAt(timeMs) - 2));
    expect(reference).toEqual(timesMs.map(blockAt));
  });

  it("shows nothing from before it began", () => {
    const beginMs = START_MS + 3 * MINUTE_MS;
    const endMs = beginMs + 4 * MINUTE_MS;

    const { timesMs } = recorded(beginMs, endMs).read([KEY], whole(endMs));

    expect(timesMs).toEqual([3, 4, 5, 6, 7].map((minute) => START_MS + minute * MINUTE_MS));
  });

  it("misses no peak of one sample, neither after an hour nor after ten", () => {
    const peakMs = START_MS + 7 * MINUTE_MS + 30_000;
    const lagAt = (nowMs: number) => (nowMs === peakMs ? 900_000 : 4_000);

    for (const hours of [1, 10]) {
      const endMs = START_MS + hours * HOUR_MS;
      const history = recorded(START_MS, endMs, lagAt);

      expect(history.read([KEY], whole(endMs)).targets[KEY]?.lagMs).toContain(900_000);
      expect(history.read([KEY], { ...whole(endMs), points: 20 }).targets[KEY]?.lagMs).toContain(900_000);
    }
  });

  it.each([
    { points: 5, lags: [5, 9, 7, 3, 8], minutes: [0, 1, 2, 3, 4] },
    { points: 3, lags: [5, 9, 8], minutes: [0, 1, 4] },
    { points: 2, lags: [9, 8], minutes: [1, 4] },
    { points: 1, lags: [9], minutes: [1] },
  ])("joins neighbours to have at most $points points, the newest group complete", (expected) => {
    const { points, lags, minutes } = expected;
    const history = new ChainHistory();
    for (const [minute, lagMs] of [5, 9, 7, 3, 8].entries()) {
      const target = sampleTargetReport({ lagMs, block: 100 + minute });
      history.record(sampleChainReport({ targets: [target] }), START_MS + minute * MINUTE_MS);
    }

    const slice = history.read([KEY], { fromMs: 0, toMs: START_MS + 4 * MINUTE_MS, points });

    expect(slice.targets[KEY]?.lagMs).toEqual(lags);
    expect(slice.timesMs).toEqual(minutes.map((minute) => START_MS + minute * MINUTE_MS));
    expect(slice.targets[KEY]?.block).toEqual(minutes.map((minute) => 100 + minute));
  });

  it("joins to the latest of equally bad moments, and to one of which anything is known", () => {
    const history = new ChainHistory();
    const { target } = sampleTargetReport();
    const samples = [
      { block: 105, lagMs: null, blocks: 3 },
      { block: 103, lagMs: 0, blocks: -7 },
      { block: 101, lagMs: 0, blocks: 2 },
      { block: null, lagMs: null, blocks: null },
      { block: null, lagMs: null, blocks: null },
      { block: 104, lagMs: null, blocks: null },
    ];
    for (const [minute, { block, lagMs, blocks }] of samples.entries()) {
      const targets = [sampleTargetReport({ block, lagMs })];
      const gaps = blocks === null ? [] : [sampleGap({ target, blocks, uncertaintyBlocks: 0.5 })];
      history.record(sampleChainReport({ targets, gaps }), START_MS + minute * MINUTE_MS);
    }

    const slice = history.read([KEY], { fromMs: 0, toMs: START_MS + 5 * MINUTE_MS, points: 3 });

    expect(slice.targets[KEY]).toMatchObject({
      block: [103, 101, 104],
      lagMs: [0, 0, null],
      gapBlocks: [-7, 2, null],
    });
  });

  it("keeps the moment of a step at which the targets were furthest behind, and the first of equal ones", () => {
    const history = new ChainHistory();
    const { target } = sampleTargetReport();
    const samples = [
      { block: 100, lagMs: 4_000, blocks: -3 },
      { block: 107, lagMs: 9_000, blocks: 1 },
      { block: 115, lagMs: 9_000, blocks: 2 },
    ];
    for (const [index, { block, lagMs, blocks }] of samples.entries()) {
      const gaps = [sampleGap({ target, blocks, uncertaintyBlocks: 0.5 })];
      const report = sampleChainReport({ targets: [sampleTargetReport({ block, lagMs })], gaps });
      history.record(report, START_MS + index * 15_000);
    }

    expect(history.read([KEY], whole(START_MS + 59_999)).targets[KEY]).toMatchObject({
      block: [107],
      lagMs: [9_000],
      gapBlocks: [1],
    });
  });

  it("adds to the uncertainty what a gap is rounded by, so that the true gap stays within it", () => {
    const history = new ChainHistory();
    const { target } = sampleTargetReport();
    const gaps = [sampleGap({ target, blocks: 16_777_217, uncertaintyBlocks: 0.5 })];
    history.record(sampleChainReport({ gaps }), START_MS);

    expect(history.read([KEY], whole(START_MS)).targets[KEY]).toMatchObject({
      gapBlocks: [16_777_216],
      uncertaintyBlocks: [1.5],
    });
  });

  it("leaves a time in which nothing was recorded empty", () => {
    const history = recorded(START_MS, START_MS + MINUTE_MS);
    const laterMs = START_MS + 4 * MINUTE_MS;
    history.record(reportAt(laterMs), laterMs);

    const { targets } = history.read([KEY], whole(laterMs));

    expect(targets[KEY]?.lagMs.map((lagMs) => lagMs === null)).toEqual([false, false, true, true, false]);
  });

  it("shows nothing of the future after the clock was set back", () => {
    const history = recorded(START_MS, START_MS + 3 * HOUR_MS);
    const nowMs = START_MS + HOUR_MS + 15_000;
    history.record(reportAt(nowMs), nowMs);

    const { timesMs, targets } = history.read([KEY], whole(nowMs));

    expect(timesMs.at(-1)).toBe(nowMs);
    expect(targets[KEY]?.block.at(-1)).toBe(blockAt(nowMs) - 2);
  });

  it("forgets a target once it is gone", () => {
    const history = recorded(START_MS, START_MS + 10 * MINUTE_MS);
    const laterMs = START_MS + 20 * MINUTE_MS;
    history.record(sampleChainReport({ targets: [sampleTargetReport()] }), laterMs);

    const { targets } = history.read([KEY, SUBGRAPH.key], whole(laterMs));

    expect(targets[KEY]?.block.some((block) => block !== null)).toBe(true);
    expect(targets[SUBGRAPH.key]?.block.every((block) => block === null)).toBe(true);
  });

  it("shows an interval that contains the true gap, and a lag to seven digits", () => {
    const property = fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: 0.75, max: 1e5, noNaN: true }),
      fc.integer({ min: 0, max: 366 * DAY_MS }),
      (blocks, uncertaintyBlocks, lagMs) => {
        const history = new ChainHistory();
        const target = sampleTargetReport({ lagMs });
        const gaps = [sampleGap({ target: target.target, blocks, uncertaintyBlocks })];
        history.record(sampleChainReport({ targets: [target], gaps }), START_MS);

        const own = history.read([KEY], whole(START_MS)).targets[KEY];
        const [shown = 0, within = 0, lag = 0] = [
          own?.gapBlocks[0] ?? 0,
          own?.uncertaintyBlocks[0] ?? 0,
          own?.lagMs[0] ?? 0,
        ];

        expect(shown - within).toBeLessThanOrEqual(blocks - uncertaintyBlocks + ROUNDING);
        expect(shown + within).toBeGreaterThanOrEqual(blocks + uncertaintyBlocks - ROUNDING);
        expect(within).toBeLessThanOrEqual(uncertaintyBlocks + Math.abs(blocks - shown) + 0.11);
        // Four bytes have 24 binary digits; the shortest decimal is as far from them again, at most.
        expect(Math.abs(lag - lagMs)).toBeLessThanOrEqual(lagMs / 2 ** 23);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});
