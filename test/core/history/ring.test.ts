import { describe, expect, it } from "vitest";
import { Ring } from "../../../src/core/history/ring.ts";

const STEP_MS = 1_000;

/** A ring of four steps of a second and two columns, with a value of the series `a` at each of these steps. */
function ringAt(...steps: readonly number[]): Ring {
  const ring = new Ring(STEP_MS, 4, [8, 8]);
  for (const step of steps) {
    putInto(ring, step * STEP_MS, { a: step });
  }
  return ring;
}

/** Puts these values into both columns. */
function putInto(ring: Ring, nowMs: number, values: Record<string, number | null>): void {
  const series = new Map(Object.entries(values));
  ring.put(nowMs, [series, series]);
}

describe("Ring.put()", () => {
  it("takes all times from the beginning of a step to the next one for that step", () => {
    const ring = ringAt();

    putInto(ring, 10_000, { a: 5 });
    putInto(ring, 10_999, { a: 3 });
    putInto(ring, 11_000, { a: 1 });

    expect(ring.read("a", 0, [10, 11])).toEqual([3, 1]);
    expect([10, 11, 12].map((step) => ring.timeOf(step))).toEqual([10_999, 11_000, 12_000]);
  });

  it("overwrites the oldest step, and no longer has a value for that one", () => {
    const ring = ringAt(10, 11, 12, 13, 14);

    expect(ring.read("a", 0, [10, 11, 12, 13, 14])).toEqual([null, 11, 12, 13, 14]);
  });

  it("drops a series that a new step lacks, and keeps one that is unknown there", () => {
    const ring = ringAt();
    putInto(ring, 10_000, { a: 1, b: 2, c: 3 });

    putInto(ring, 11_000, { b: null, c: 4 });

    expect(["a", "b", "c"].map((name) => ring.read(name, 0, [10, 11]))).toEqual([
      [null, null],
      [2, null],
      [3, 4],
    ]);
  });
});

describe("Ring.stepsBetween()", () => {
  it.each<{ case: string; held: readonly number[]; fromMs: number; toMs: number; steps: readonly number[] }>([
    { case: "all that is held", held: [10, 11, 12], fromMs: 0, toMs: 12_000, steps: [10, 11, 12] },
    { case: "none where nothing is held", held: [], fromMs: 0, toMs: 12_000, steps: [] },
    { case: "only those of the span", held: [10, 11, 12, 13], fromMs: 11_000, toMs: 12_999, steps: [11, 12] },
    {
      case: "only those that begin in the span",
      held: [10, 11, 12],
      fromMs: 10_001,
      toMs: 12_000,
      steps: [11, 12],
    },
    {
      case: "the empty ones after the first",
      held: [10, 12],
      fromMs: 0,
      toMs: 13_000,
      steps: [10, 11, 12, 13],
    },
    { case: "none of before the ring, though still held", held: [10], fromMs: 0, toMs: 14_000, steps: [] },
    {
      case: "the oldest that the ring reaches",
      held: [10],
      fromMs: 0,
      toMs: 13_999,
      steps: [10, 11, 12, 13],
    },
    { case: "none of the future", held: [10, 11, 12], fromMs: 0, toMs: 11_000, steps: [10, 11] },
    { case: "none where all is in the future", held: [12], fromMs: 0, toMs: 10_000, steps: [] },
  ])("has $case", ({ held, fromMs, toMs, steps }) => {
    expect(ringAt(...held).stepsBetween(fromMs, toMs)).toEqual(steps);
  });
});

describe("Ring.earliestMs()", () => {
  it.each([
    { toMs: 13_000, earliestMs: 10_000 },
    { toMs: 13_999, earliestMs: 10_000 },
    { toMs: 14_000, earliestMs: 11_000 },
  ])("is $earliestMs at $toMs in a ring of four seconds", ({ toMs, earliestMs }) => {
    expect(ringAt().earliestMs(toMs)).toBe(earliestMs);
  });
});

describe("Ring.restore()", () => {
  it("continues from what was saved", () => {
    const ring = ringAt();

    ring.restore(ringAt(10, 11).save());
    putInto(ring, 12_000, { a: 12 });

    expect(ring.read("a", 1, [10, 11, 12])).toEqual([10, 11, 12]);
  });

  it.each([
    { case: "a column more", columns: [0, 1, 1] },
    { case: "a column less", columns: [0] },
    { case: "no column", columns: [] },
  ])("ignores data with $case, for nobody knows which column is which", ({ columns }) => {
    const { timesMs, columns: saved } = ringAt(10, 11).save();
    const ring = ringAt();

    ring.restore({ timesMs, columns: columns.flatMap((index) => saved[index] ?? []) });

    expect(ring.stepsBetween(0, 11_000)).toEqual([]);
  });
});
