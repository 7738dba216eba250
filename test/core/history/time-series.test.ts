import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isDue,
  NEW_RECORDING,
  pagesOf,
  playColumn,
  type Recording,
  record,
  resumeRecording,
} from "../../../src/core/history/time-series.ts";

/** Steps of a second, four a page, three full pages kept. */
const SHORT = { stepMs: 1_000, pageSteps: 4, pages: 3 };

describe("record()", () => {
  it("plays back what was recorded, and null where nothing was", () => {
    const recording = recordAt([0, 1, 2, 5, 6]);

    expect(play(recording, 0, 7)).toEqual([0, 1, 2, null, null, 5, 6, null]);
  });

  it("keeps the full pages and the one under way, and no more", () => {
    const recording = recordAt(Array.from({ length: 100 }, (_, second) => second));

    expect(pagesOf(recording)).toHaveLength(4);
    expect(play(recording, 82, 99)).toEqual([null, null, ...range(84, 99)]);
  });

  it("forgets what was recorded after the instant that the clock went back to", () => {
    const recording = recordAt([8, 9, 10, 11, 9]);

    expect(play(recording, 8, 11)).toEqual([8, 9, null, null]);
  });

  it("forgets the pages of a future that did not come", () => {
    const recording = recordAt([8, 9, 20, 10]);

    expect(play(recording, 20, 20)).toEqual([null]);
    expect(play(recording, 8, 10)).toEqual([8, 9, 10]);
  });

  it("knows a page's last step though some of its names ended before", () => {
    const both = record(recordAt([8]), SHORT, { nowMs: 9_000, row: { names: ["b"], numbers: [7] } });
    const resumed = resumeRecording(
      pagesOf(record(both, SHORT, { nowMs: 10_000, row: { names: ["a"], numbers: [1] } })),
    );

    expect(isDue(resumed, SHORT, 10_999)).toBe(false);
    expect(isDue(resumed, SHORT, 11_000)).toBe(true);
  });

  it("plays only what was asked for", () => {
    expect(play(recordAt([0, 1, 2, 3, 4, 5, 6]), 1, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(playColumn(recordAt([0, 5]), { name: "else", column: 0 }, { firstStep: 0, lastStep: 1 })).toEqual([
      null,
      null,
    ]);
    expect(playColumn(recordAt([0, 5]), { name: "a", column: 1 }, { firstStep: 0, lastStep: 1 })).toEqual([
      null,
      null,
    ]);
  });

  it("has each page once, and none that is older than it keeps", () => {
    const firsts = (seconds: readonly number[]) =>
      pagesOf(recordAt(seconds)).map(({ firstStep }) => firstStep);

    expect(firsts([0, 1, 4, 8, 9])).toEqual([0, 4, 8]);
    expect(firsts([0, 4, 40])).toEqual([40]);
    expect(firsts([0, 4, 12])).toEqual([0, 4, 12]);
    expect(firsts([0, 4, 16])).toEqual([4, 16]);
    expect(firsts([0, 5, 4])).toEqual([0, 4]);
    expect(pagesOf(resumeRecording(pagesOf(recordAt([0, 4, 5]))))).toHaveLength(2);
  });

  it("begins in the midst of a page for a name that is new", () => {
    const before = recordAt([8, 9]);

    const recording = record(before, SHORT, { nowMs: 10_000, row: { names: ["b"], numbers: [7] } });

    expect(playColumn(recording, { name: "b", column: 0 }, { firstStep: 8, lastStep: 10 })).toEqual([
      null,
      null,
      7,
    ]);
    expect(play(recording, 8, 10)).toEqual([8, 9, null]);
  });

  it("keeps apart what came and went within a page", () => {
    const rows = [
      { names: ["a", "a", "b"], numbers: [1, 2, 3] },
      { names: ["b", "c", "c"], numbers: [4, 5, 6] },
      { names: ["c", "c", "a", "a"], numbers: [7, 8, 9, 10] },
    ];
    const recording = rows.reduce(
      (before, row, index) => record(before, SHORT, { nowMs: (8 + index) * 1_000, row }),
      NEW_RECORDING,
    );

    const columns = (name: string) =>
      [0, 1].map((column) => playColumn(recording, { name, column }, { firstStep: 8, lastStep: 10 }));

    expect(columns("a")).toEqual([
      [1, null, 9],
      [2, null, 10],
    ]);
    expect(columns("b")).toEqual([
      [3, 4, null],
      [null, null, null],
    ]);
    expect(columns("c")).toEqual([
      [null, 5, 7],
      [null, 6, 8],
    ]);
  });

  it("goes on after a restart as if there had been none", () => {
    const anySeconds = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 30 });
    fc.assert(
      fc.property(anySeconds, anySeconds, (before, after) => {
        const through = recordAt([...before, ...after]);
        const saved: unknown = JSON.parse(JSON.stringify(pagesOf(recordAt(before))));

        // It is what was said as JSON a line above.
        const restarted = recordAt(after, resumeRecording(saved as Recording["pages"]));

        expect(play(restarted, 0, 60)).toEqual(play(through, 0, 60));
      }),
    );
  });
});

describe("isDue()", () => {
  it.each([
    { case: "nothing is recorded", at: [], nowMs: 0, due: true },
    { case: "the step is recorded", at: [5], nowMs: 5_999, due: false },
    { case: "the next step has begun", at: [5], nowMs: 6_000, due: true },
    { case: "the clock went back", at: [5], nowMs: 4_999, due: true },
  ])("is $due when $case", ({ at, nowMs, due }) => {
    expect(isDue(recordAt(at), SHORT, nowMs)).toBe(due);
  });
});

/** At each second, the number of the second. */
function recordAt(seconds: readonly number[], from: Recording = NEW_RECORDING): Recording {
  return seconds.reduce(
    (recording, second) =>
      record(recording, SHORT, { nowMs: second * 1_000, row: { names: ["a"], numbers: [second] } }),
    from,
  );
}

function play(recording: Recording, firstStep: number, lastStep: number) {
  return playColumn(recording, { name: "a", column: 0 }, { firstStep, lastStep });
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
