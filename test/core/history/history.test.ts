import { describe, expect, it } from "vitest";
import {
  type ChainHistory,
  NEW_HISTORY,
  readHistory,
  recordChain,
  resumeHistory,
  saveHistory,
} from "../../../src/core/history/history.ts";
import { sampleChainReport, sampleGap, sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

const START_MS = Date.UTC(2026, 11, 1);
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const KEY = sampleTarget().key;
const SUBGRAPH = sampleTarget({ variant: "subgraph" });

describe("recordChain()", () => {
  it("is the same history while no step has begun", () => {
    const history = recordChain(NEW_HISTORY, sampleChainReport(), START_MS);

    expect(recordChain(history, sampleChainReport(), START_MS + 14_999)).toBe(history);
    expect(recordChain(history, sampleChainReport(), START_MS + 15_000)).not.toBe(history);
  });

  it("is the same history while nothing is known", () => {
    const unknown = sampleTargetReport({ block: null, lagMs: null });
    const report = sampleChainReport({ reference: null, targets: [unknown] });

    expect(recordChain(NEW_HISTORY, report, START_MS)).toBe(NEW_HISTORY);
  });

  it("records a height though nothing else is known", () => {
    const target = sampleTargetReport({ lagMs: null });
    const report = sampleChainReport({ reference: null, targets: [target], gaps: [] });

    const past = readHistory(recordChain(NEW_HISTORY, report, START_MS), [KEY], whole(START_MS));

    expect(past.reference).toEqual([null]);
    expect(past.targets[KEY]).toEqual({
      block: [target.block],
      lagMs: [null],
      gapBlocks: [null],
      uncertaintyBlocks: [null],
    });
  });

  it("keeps more than a day by the minute, and two hours closely", () => {
    const endMs = START_MS + 3 * DAY_MS;

    const past = readHistory(recorded(START_MS, endMs), [KEY], whole(endMs));

    expect(endMs - (past.timesMs[0] ?? 0)).toBeGreaterThanOrEqual(DAY_MS);
    expect(past.timesMs.filter((time) => time >= endMs - 120 * MINUTE_MS)).toHaveLength(481);
    expect(past.targets[KEY]?.block.every((block) => block !== null)).toBe(true);
  });

  it("takes less than 18 kB a target and day", () => {
    const endMs = START_MS + 2 * DAY_MS;

    const text = JSON.stringify(saveHistory(recorded(START_MS, endMs)));

    expect(text.length / 2).toBeLessThan(18_000);
  });
});

describe("readHistory()", () => {
  it("tells height, lag, gap and reference of each instant", () => {
    const history = recordChain(NEW_HISTORY, reportAt(START_MS), START_MS);

    const past = readHistory(history, [SUBGRAPH.key], whole(START_MS));

    expect(past).toEqual({
      timesMs: [START_MS],
      reference: [blockAt(START_MS)],
      targets: {
        [SUBGRAPH.key]: {
          block: [blockAt(START_MS) - 2],
          lagMs: [4000],
          gapBlocks: [1.5],
          uncertaintyBlocks: [0.5],
        },
      },
    });
  });

  it("tells nothing of a target that was never recorded", () => {
    const past = readHistory(recorded(START_MS, START_MS), ["else"], whole(START_MS));

    expect(past.targets["else"]?.block).toEqual([null]);
  });

  it("tells no instant before anything is recorded", () => {
    expect(readHistory(NEW_HISTORY, [KEY], whole(START_MS)).timesMs).toEqual([]);
  });

  it("hides no spike when many instants become one", () => {
    const endMs = START_MS + 300 * MINUTE_MS;
    const spikeMs = START_MS + 50 * MINUTE_MS;
    const history = recorded(START_MS, endMs, (nowMs) => (nowMs === spikeMs ? 900_000 : 4_000));

    const past = readHistory(history, [KEY], { fromMs: 0, toMs: endMs, points: 40 });

    expect(past.timesMs.length).toBeLessThanOrEqual(40);
    expect(past.targets[KEY]?.lagMs).toContain(900_000);
    expect(past.timesMs.at(-1)).toBe(endMs);
  });

  it.each([
    { case: "as they are", lags: [5, 9, 7, 3, 8], points: 5, told: [5, 9, 7, 3, 8], steps: [0, 1, 2, 3, 4] },
    {
      case: "in pairs, the newest full",
      lags: [5, 9, 7, 3, 8],
      points: 3,
      told: [5, 9, 8],
      steps: [0, 2, 4],
    },
    { case: "in pairs that are all full", lags: [5, 9, 7, 3], points: 2, told: [9, 7], steps: [1, 3] },
    {
      case: "in pairs of which half is known",
      lags: [0, null, null, 3],
      points: 2,
      told: [0, 3],
      steps: [1, 3],
    },
  ])("tells instants $case", ({ lags, points, told, steps }) => {
    let history = NEW_HISTORY;
    for (const [step, lagMs] of lags.entries()) {
      const target = sampleTargetReport({ lagMs, block: lagMs === null ? null : 100 + step });
      history = recordChain(history, sampleChainReport({ targets: [target] }), START_MS + step * 15_000);
    }

    const past = readHistory(history, [KEY], {
      fromMs: 0,
      toMs: START_MS + (lags.length - 1) * 15_000,
      points,
    });

    expect(past.targets[KEY]?.lagMs).toEqual(told);
    expect(past.timesMs).toEqual(steps.map((step) => START_MS + step * 15_000));
  });

  it("tells the last height that is known of several", () => {
    const blocks = [100, null, null, 103];
    let history = NEW_HISTORY;
    for (const [step, block] of blocks.entries()) {
      const report = sampleChainReport({ targets: [sampleTargetReport({ block })] });
      history = recordChain(history, report, START_MS + step * 15_000);
    }

    const past = readHistory(history, [KEY], { fromMs: 0, toMs: START_MS + 45_000, points: 2 });

    expect(past.targets[KEY]?.block).toEqual([100, 103]);
  });

  it("tells nothing of a time that ends before anything is recorded", () => {
    const history = recorded(START_MS, START_MS + MINUTE_MS);

    expect(readHistory(history, [KEY], { ...whole(START_MS - 1), points: 9 }).timesMs).toEqual([]);
  });

  it("is the same after it was saved and read", () => {
    const endMs = START_MS + 200 * MINUTE_MS;
    const history = recorded(START_MS, endMs);

    const saved: unknown = JSON.parse(JSON.stringify(saveHistory(history)));
    // It is what was said as JSON a line above.
    const resumed = resumeHistory(saved as ReturnType<typeof saveHistory>);

    expect(readHistory(resumed, [KEY], whole(endMs))).toEqual(readHistory(history, [KEY], whole(endMs)));
  });
});

function whole(toMs: number) {
  return { fromMs: 0, toMs, points: Number.POSITIVE_INFINITY };
}

function recorded(fromMs: number, toMs: number, lagMs: (nowMs: number) => number = wobble): ChainHistory {
  let history = NEW_HISTORY;
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 15_000) {
    history = recordChain(history, reportAt(nowMs, lagMs(nowMs)), nowMs);
  }
  return history;
}

/** Some lag that differs from step to step. */
function wobble(nowMs: number): number {
  return 4_000 + ((nowMs / 15_000) % 7) * 311;
}

function reportAt(nowMs: number, lagMs = 4_000) {
  const block = blockAt(nowMs);
  return sampleChainReport({
    reference: { block, sources: 3, timeMs: nowMs },
    targets: [
      sampleTargetReport({ block: block - 2, lagMs }),
      sampleTargetReport({ target: SUBGRAPH, block: block - 2, lagMs }),
    ],
    gaps: [sampleGap({ target: SUBGRAPH, blocks: 1.5, uncertaintyBlocks: 0.5 })],
  });
}

function blockAt(nowMs: number): number {
  return 38_000_000 + Math.floor((nowMs - START_MS) / 2_000);
}
