import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChainHistory } from "../../../src/core/history/history.ts";
import { sampleChainReport, sampleGap, sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

const START_MS = Date.UTC(2026, 11, 1);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const KEY = sampleTarget().key;
const SUBGRAPH = sampleTarget({ variant: "subgraph" });

/** Everything that is recorded until then. */
const whole = (toMs: number) => ({ fromMs: 0, toMs, points: Number.POSITIVE_INFINITY });

const TARGETS = [sampleTargetReport(), sampleTargetReport({ target: SUBGRAPH })];

/** Two targets with this lag, two blocks behind the reference. */
function reportAt(nowMs: number, lagMs: number | null = 4_000) {
  const block = blockAt(nowMs);
  return sampleChainReport({
    reference: { block_number: block, sources: 3, time: null },
    targets: TARGETS.map((target) => ({
      ...target,
      block_number: block - 2,
      lag_seconds: lagMs === null ? null : lagMs / 1_000,
    })),
    gaps: [sampleGap({ target: SUBGRAPH, blocks: 1.7, uncertainty_blocks: 0.44 })],
  });
}

function blockAt(nowMs: number): number {
  return 38_000_000 + Math.floor((nowMs - START_MS) / 2_000);
}

/** A history with a sample each 15 s. */
function recorded(fromMs: number, toMs: number, lagAt?: (nowMs: number) => number): ChainHistory {
  const history = new ChainHistory();
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 15_000) {
    history.record(reportAt(nowMs, lagAt?.(nowMs)), nowMs);
  }
  return history;
}

describe("the recorded values", () => {
  it("are height, lag, gap and reference", () => {
    const history = new ChainHistory();
    history.record(reportAt(START_MS), START_MS);

    const { timesMs, reference, targets } = history.read([SUBGRAPH.key, "never"], whole(START_MS));

    const block = blockAt(START_MS);
    expect({ timesMs, reference }).toEqual({ timesMs: [START_MS], reference: [block] });
    expect(targets).toEqual({
      // The uncertainty is rounded up, so that the interval still contains the true gap.
      [SUBGRAPH.key]: { block: [block - 2], lagMs: [4_000], gapBlocks: [1.7], uncertaintyBlocks: [0.5] },
      never: { block: [null], lagMs: [null], gapBlocks: [null], uncertaintyBlocks: [null] },
    });
  });

  it("have a gap in tenths, and a lag of seven digits", () => {
    const property = fc.property(
      fc.integer({ min: -10_000_000, max: 10_000_000 }),
      fc.integer({ min: 7, max: 1_000_000 }),
      fc.integer({ min: 0, max: 366 * 24 * HOUR_MS }),
      (blocks, uncertainty, lagMs) => {
        const history = new ChainHistory();
        const gap = { blocks: blocks / 10, uncertainty_blocks: (uncertainty - 0.5) / 10 };
        const targets = [sampleTargetReport({ lag_seconds: lagMs / 1_000 })];
        const gaps = [sampleGap({ target: sampleTarget(), ...gap })];
        history.record(sampleChainReport({ targets, gaps }), START_MS);

        const own = history.read([KEY], whole(START_MS)).targets[KEY];
        expect(own).toMatchObject({ gapBlocks: [blocks / 10], uncertaintyBlocks: [uncertainty / 10] });
        // Four bytes have 24 binary digits.
        expect(Math.abs(Number(own?.lagMs[0]) - lagMs)).toBeLessThanOrEqual(lagMs / 2 ** 23);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it("are empty while nothing is known", () => {
    const history = new ChainHistory();
    const unknown = sampleTargetReport({ block_number: null, lag_seconds: null });

    history.record(sampleChainReport({ reference: null, targets: [unknown] }), START_MS);
    history.record(reportAt(START_MS + 1_000), START_MS + 1_000);

    expect(history.read([KEY], whole(START_MS + MINUTE_MS)).timesMs[0]).toBe(START_MS + 1_000);
  });

  it("are deleted with their target, and no others are", () => {
    const [laterMs, only] = [START_MS + 20 * MINUTE_MS, sampleTargetReport({ target: SUBGRAPH })];
    const history = recorded(START_MS, START_MS + 10 * MINUTE_MS);
    const before = history.read([SUBGRAPH.key], whole(START_MS + 10 * MINUTE_MS));

    history.record(sampleChainReport({ targets: [only], gaps: [] }), laterMs);

    const { targets } = history.read([KEY, SUBGRAPH.key], whole(laterMs));
    const former = before.targets[SUBGRAPH.key]?.block ?? [];
    expect(targets[SUBGRAPH.key]?.block.slice(0, former.length)).toEqual(former);
    expect(targets[KEY]?.block.every((block) => block === null)).toBe(true);
  });
});

describe("the values kept for each step", () => {
  it("are of a minute for two hours, and of five minutes for a day", () => {
    const endMs = START_MS + 30 * HOUR_MS + 2 * MINUTE_MS;

    const { timesMs, targets, reference } = recorded(START_MS, endMs).read([KEY], whole(endMs));

    const steps = timesMs.slice(1).map((timeMs, index) => timeMs - (timesMs[index] ?? 0));
    expect(endMs - (timesMs[0] ?? 0)).toBeGreaterThan(24 * HOUR_MS - 5 * MINUTE_MS);
    expect(endMs - (timesMs[0] ?? 0)).toBeLessThanOrEqual(24 * HOUR_MS);
    expect(timesMs.filter((timeMs) => timeMs > endMs - 2 * HOUR_MS)).toHaveLength(120);
    expect(new Set(steps.slice(-119))).toEqual(new Set([MINUTE_MS]));
    expect(new Set(steps.slice(0, -120))).toEqual(new Set([5 * MINUTE_MS]));
    expect(targets[KEY]?.block).toEqual(timesMs.map((timeMs) => blockAt(timeMs) - 2));
    expect(reference).toEqual(timesMs.map(blockAt));
  });

  it("begin and end with the record, also within a step, and are empty without a record", () => {
    for (const minutes of [0, 1, 2, 3, 4]) {
      const [fromMs, endMs] = [START_MS + minutes * MINUTE_MS, START_MS + (150 + 2 * minutes) * MINUTE_MS];
      const { timesMs } = recorded(fromMs, endMs).read([KEY], whole(endMs));
      // Where the lag grows, a step keeps its last sample.
      const growing = recorded(fromMs, endMs, (nowMs) => nowMs - fromMs).read([KEY], whole(endMs));

      expect([timesMs.at(0), timesMs.at(-1)]).toEqual([fromMs, endMs]);
      for (const times of [timesMs, growing.timesMs]) {
        expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
      }
    }

    const history = recorded(START_MS, START_MS + MINUTE_MS);
    history.record(reportAt(START_MS + 4 * MINUTE_MS), START_MS + 4 * MINUTE_MS);

    const lags = history.read([KEY], whole(START_MS + 4 * MINUTE_MS)).targets[KEY]?.lagMs;
    expect(lags).toEqual([4_000, 4_000, null, null, 4_000]);
  });

  it("are those of the moment at which the targets were furthest behind", () => {
    const history = new ChainHistory();
    for (const [index, lagMs] of [4_000, 9_000, 9_000, 2_000].entries()) {
      history.record(reportAt(START_MS + index * 15_000, lagMs), START_MS + index * 15_000);
    }

    const { timesMs, targets } = history.read([KEY], whole(START_MS + 59_999));

    expect([timesMs, targets[KEY]?.lagMs]).toEqual([[START_MS + 15_000], [9_000]]);
    expect(targets[KEY]?.block).toEqual([blockAt(START_MS + 15_000) - 2]);
  });

  it("keep a peak of one sample after one hour, after ten, and when points are merged", () => {
    const peakMs = START_MS + 7 * MINUTE_MS + 30_000;
    const lagAt = (nowMs: number) => (nowMs === peakMs ? 900_000 : 4_000);

    for (const hours of [1, 10]) {
      const endMs = START_MS + hours * HOUR_MS;
      const history = recorded(START_MS, endMs, lagAt);
      for (const points of [20, Number.POSITIVE_INFINITY]) {
        const { lagMs } = history.read([KEY], { ...whole(endMs), points }).targets[KEY] ?? {};
        expect(lagMs).toContain(900_000);
      }
    }
  });

  it("have no point in the future after the clock was set back", () => {
    const history = recorded(START_MS, START_MS + 3 * HOUR_MS);
    const nowMs = START_MS + HOUR_MS + 15_000;
    history.record(reportAt(nowMs), nowMs);

    const { timesMs, targets } = history.read([KEY], whole(nowMs));

    expect([timesMs.at(-1), targets[KEY]?.block.at(-1)]).toEqual([nowMs, blockAt(nowMs) - 2]);
  });
});

describe("points that are joined", () => {
  it("have the worst value of each group, and the newest group is complete", () => {
    const history = new ChainHistory();
    for (const [minute, lagMs] of [5, 9, 7, 3, 8].entries()) {
      history.record(reportAt(START_MS + minute * MINUTE_MS, lagMs), START_MS + minute * MINUTE_MS);
    }

    const lags = [5, 3, 2, 1].map((points) => {
      const { timesMs, targets } = history.read([KEY], { fromMs: 0, toMs: START_MS + 4 * MINUTE_MS, points });
      return timesMs.map((timeMs, index) => [(timeMs - START_MS) / MINUTE_MS, targets[KEY]?.lagMs[index]]);
    });

    const all = [
      [0, 5],
      [1, 9],
      [2, 7],
      [3, 3],
      [4, 8],
    ];
    expect(lags).toEqual([all, [all[0], all[1], all[4]], [all[1], all[4]], [all[1]]]);
  });
});

describe("a saved history", () => {
  it("is the same after it was read", () => {
    const endMs = START_MS + 5 * HOUR_MS;
    const history = recorded(START_MS, endMs);

    const restored = new ChainHistory().restore(structuredClone(history.save()));
    for (const one of [history, restored]) {
      one.record(reportAt(endMs + MINUTE_MS), endMs + MINUTE_MS);
    }

    const later = whole(endMs + MINUTE_MS);
    expect(restored.read([KEY, SUBGRAPH.key], later)).toEqual(history.read([KEY, SUBGRAPH.key], later));
  });

  it("takes 20 bytes a step for a target with a gap, and 12 for one without", () => {
    const { series } = recorded(START_MS, START_MS + HOUR_MS).save();

    // Eight for a height, of the reference too, and four each for a lag, a gap and its uncertainty.
    const bytes = Object.values(series).reduce((total, values) => total + values.byteLength, 0);
    expect(bytes / 408).toBe(8 + 12 + 20);
  });
});
