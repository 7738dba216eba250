import { describe, expect, it } from "vitest";
import {
  addFailure,
  addReading,
  forgetValues,
  isContradictory,
  isSteady,
  isWellKnown,
  type KnownValues,
  newKnownValues,
} from "../../../src/core/parity/known-values.ts";
import { T0 } from "../chain/chain-fixture.ts";

const MINUTE = 60_000;
const SOURCE = { probe: "rows", target: "airdrops/a/production/base", query: "q" };
const NEVER_READ = newKnownValues(SOURCE);

type Said = readonly [block: number, text: string];

/** Readings of one source, a minute after another; `known` is continued a minute after its last one. */
function read(said: readonly Said[], known = NEVER_READ): KnownValues {
  return said.reduce((before, one) => readAfter(MINUTE, one, before), known);
}

/** One more reading, so long after the one before, of a source that is read each minute. */
function readAfter(passedMs: number, [block, text]: Said, known: KnownValues): KnownValues {
  const atMs = (known.lastMs ?? T0) + passedMs;
  return addReading(known, { block, value: { text, isNumber: true }, atMs }, MINUTE);
}

/** `from-to: text` of each run. */
function runsOf({ runs }: KnownValues): readonly string[] {
  return runs.map(({ from, to, text }) => `${from}-${to}: ${text}`);
}

/** So many readings of the same value, 10 blocks apart, from this height on. */
function steadily(count: number, fromBlock: number, text: string): readonly Said[] {
  return Array.from({ length: count }, (_, index) => [fromBlock + 10 * index, text] as const);
}

describe("newKnownValues()", () => {
  it("knows nothing, so that no value is compared before it was read", () => {
    expect(newKnownValues(SOURCE)).toEqual({
      ...SOURCE,
      deployment: null,
      runs: [],
      readings: 0,
      returnedAt: null,
      contradictedAt: null,
      lastMs: null,
      failure: null,
    });
  });
});

describe("addReading()", () => {
  it("keeps the former value at its heights when a new one is read further up", () => {
    const known = read([
      [100, "5"],
      [200, "6"],
    ]);

    expect(runsOf(known)).toEqual(["100-100: 5", "200-200: 6"]);
  });

  it("counts the readings that a run of equal values is made of", () => {
    const known = read([
      [100, "5"],
      [200, "5"],
      [300, "5"],
    ]);

    expect(known.runs).toEqual([{ from: 100, to: 300, text: "5", isNumber: true, count: 3 }]);
    expect(known.readings).toBe(3);
  });

  it.each([
    { case: "three intervals pass", passedMs: 3 * MINUTE, runs: ["100-200: 5"] },
    {
      case: "more than three intervals pass",
      passedMs: 3 * MINUTE + 1,
      runs: ["100-100: 5", "200-200: 5"],
    },
  ])("takes two equal readings for the heights between as $runs where $case", ({ passedMs, runs }) => {
    const known = readAfter(passedMs, [200, "5"], read([[100, "5"]]));

    expect(runsOf(known)).toEqual(runs);
  });

  it("counts an equal reading of the same height into its run, however long after the first", () => {
    const known = readAfter(60 * MINUTE, [100, "5"], read([[100, "5"]]));

    expect(known.runs).toMatchObject([{ from: 100, to: 100, count: 2 }]);
  });

  it("remembers 64 changes of the value, so that memory is bounded where every reading is another value", () => {
    const known = read(Array.from({ length: 70 }, (_, index) => [index + 1, `${index + 1}`] as const));

    expect(known.runs).toHaveLength(64);
    expect(runsOf(known).at(0)).toBe("7-7: 7");
    expect(runsOf(known).at(-1)).toBe("70-70: 70");
  });

  it("clears the failure of the reading before", () => {
    const failed = addFailure(read([[100, "5"]]), "no field n");

    expect(failed).toMatchObject({ failure: "no field n", readings: 1 });
    expect(read([[110, "5"]], failed)).toMatchObject({ failure: null, readings: 2 });
  });
});

describe("addReading() below the heights read before, as after a reorg", () => {
  const before = read([
    [100, "5"],
    [200, "6"],
    [300, "6"],
    [400, "7"],
  ]);

  it.each<{ case: string; said: Said; runs: readonly string[] }>([
    { case: "within a run, which it ends", said: [250, "6"], runs: ["100-100: 5", "200-250: 6"] },
    { case: "at the first height of a run", said: [200, "6"], runs: ["100-100: 5", "200-200: 6"] },
    { case: "between two runs", said: [150, "8"], runs: ["100-100: 5", "150-150: 8"] },
    { case: "below all of them", said: [50, "5"], runs: ["50-50: 5"] },
    { case: "at the last height", said: [400, "7"], runs: ["100-100: 5", "200-300: 6", "400-400: 7"] },
  ])("forgets what was said above it: $case", ({ said, runs }) => {
    expect(runsOf(read([said], before))).toEqual(runs);
  });

  it.each([
    { case: "within the run", block: 250 },
    { case: "at its first height", block: 200 },
  ])(
    "forgets everything where it contradicts a run $case, since that run was wrong somewhere",
    ({ block }) => {
      const known = read([[block, "8"]], before);

      expect(known.runs).toEqual([{ from: block, to: block, text: "8", isNumber: true, count: 1 }]);
    },
  );

  it.each<{ case: string; said: Said; contradictedAt: number | null }>([
    { case: "the last height read", said: [400, "8"], contradictedAt: 5 },
    { case: "a lower height, which a reorg may have changed", said: [250, "8"], contradictedAt: null },
  ])("notes a contradiction only for $case", ({ said, contradictedAt }) => {
    expect(read([said], before)).toMatchObject({ contradictedAt, readings: 5 });
  });

  it("still knows an earlier contradiction when a lower height has another value", () => {
    const contradicted = read(
      [
        [400, "8"],
        [500, "8"],
      ],
      before,
    );

    expect(read([[450, "9"]], contradicted).contradictedAt).toBe(5);
  });
});

describe("addReading() of a value that was there before", () => {
  it.each([
    { case: "after one reading of another value", between: 1, returnedAt: 3 },
    { case: "after 31 readings of another value", between: 31, returnedAt: 33 },
    { case: "but not after 32 readings of another value", between: 32, returnedAt: null },
  ])("notes that the value comes and goes $case", ({ between, returnedAt }) => {
    const known = read([[100, "on"], ...steadily(between, 200, "off"), [9_000, "on"]]);

    expect(known.returnedAt).toBe(returnedAt);
  });

  it("counts only the readings since the value was there last", () => {
    const known = read([...steadily(40, 100, "on"), [5_000, "off"], [5_010, "on"]]);

    expect(known.returnedAt).toBe(42);
  });

  it.each<{ case: string; said: readonly Said[] }>([
    {
      case: "a new value",
      said: [
        [100, "on"],
        [200, "off"],
        [300, "new"],
      ],
    },
    {
      case: "the value that never went",
      said: [
        [100, "on"],
        [200, "on"],
      ],
    },
  ])("does not take $case for one that comes and goes", ({ said }) => {
    expect(read(said).returnedAt).toBeNull();
  });

  it("does not take the same value after a long silence for one that comes and goes", () => {
    const known = readAfter(60 * MINUTE, [200, "on"], read([[100, "on"]]));

    expect(known.returnedAt).toBeNull();
  });
});

describe("addReading() of a long text", () => {
  it.each([1, 128])("keeps one of %d characters as it is", (length) => {
    const text = "7".repeat(length);

    expect(read([[100, text]]).runs).toMatchObject([{ text, isNumber: true }]);
  });

  it("keeps one of 129 characters as its beginning and a digest, no longer as a number", () => {
    const [kept] = read([[100, "7".repeat(129)]]).runs;

    expect(kept?.text).toMatch(/^7{128}… \([0-9a-z]+\)$/);
    expect(kept?.isNumber).toBe(false);
  });

  it("tells two texts apart that differ at their end alone", () => {
    const start = "x".repeat(200);

    expect(
      read([
        [100, `${start}a`],
        [200, `${start}b`],
      ]).runs,
    ).toHaveLength(2);
  });
});

describe("forgetValues()", () => {
  it("forgets values, deployment and time, and keeps how steady the values are", () => {
    const known: KnownValues = {
      ...read(steadily(3, 100, "5")),
      deployment: "Qm1",
      returnedAt: 2,
      contradictedAt: 1,
    };

    const forgotten = { deployment: null, runs: [], lastMs: null };
    expect(forgetValues(known)).toEqual({ ...known, ...forgotten });
  });
});

describe("isSteady()", () => {
  it.each([
    { readings: 1, returnedAt: null, expected: true },
    { readings: 10, returnedAt: 10, expected: false },
    { readings: 73, returnedAt: 10, expected: false },
    { readings: 74, returnedAt: 10, expected: true },
  ])("is $expected at reading $readings where a value returned at $returnedAt", (given) => {
    expect(isSteady({ ...NEVER_READ, ...given })).toBe(given.expected);
  });
});

describe("isWellKnown()", () => {
  it.each([
    { readings: 19, expected: false },
    { readings: 20, expected: true },
  ])("is $expected after $readings readings", ({ readings, expected }) => {
    expect(isWellKnown({ ...NEVER_READ, readings })).toBe(expected);
  });
});

describe("isContradictory()", () => {
  it.each([
    { readings: 100, contradictedAt: null, expected: false },
    { readings: 10, contradictedAt: 10, expected: true },
    { readings: 73, contradictedAt: 10, expected: true },
    { readings: 74, contradictedAt: 10, expected: false },
  ])("is $expected at reading $readings where the last contradiction was at $contradictedAt", (given) => {
    expect(isContradictory({ ...NEVER_READ, ...given })).toBe(given.expected);
  });
});
