import { describe, expect, it } from "vitest";
import {
  knownValuesOf,
  NO_PARITY,
  observeReadings,
  type ParityState,
  pairStateOf,
  parityStaleMs,
  retainParity,
  shiftParity,
  type TakenReading,
} from "../../../src/core/parity/parity-state.ts";
import type { ParityPair, WatchedProbe } from "../../../src/core/parity/watched-probe.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";
import { MINUTE, ParityPlay, parityValue, takenReading } from "./parity-play.ts";

/** Two probes over the same three variants. */
const ROWS = new ParityPlay(["a", "b", "c"]).probe;
const SUMS: WatchedProbe = { ...ROWS, name: "sums" };
const A = targetOn(BASE, "airdrops/a");
const B = targetOn(BASE, "airdrops/b");
const C = targetOn(BASE, "airdrops/c");

interface Read {
  readonly probe: string;
  readonly values: readonly (readonly [target: typeof A, value: number])[];
}

/** A reading at block 1,000 + `minute` of each of these values. */
function readingsAt(minute: number, ...reads: readonly Read[]): readonly TakenReading[] {
  return reads.flatMap(({ probe, values }) =>
    values.map(([target, value]) => {
      const atMs = T0 + minute * MINUTE;
      const taken = takenReading(target, { block: 1_000 + minute, value: parityValue(value), atMs });
      return { ...taken, reading: { ...taken.reading, probe } };
    }),
  );
}

function observe(state: ParityState, taken: readonly TakenReading[], probes = [ROWS, SUMS]): ParityState {
  return observeReadings(state, { probes, staleMs: 5 * MINUTE }, taken);
}

/** `probe b-a: result` of each pair, sorted. */
function resultsOf({ pairs }: ParityState): readonly string[] {
  const variant = (key: string) => key.split("/")[1];
  return pairs
    .map(({ probe, target, against, result }) => `${probe} ${variant(target)}-${variant(against)}: ${result}`)
    .toSorted();
}

/** Rows are equal in all three; the sum of c differs, and was read three times. */
const KNOWN = [1, 2, 3].reduce(
  (state, minute) =>
    observe(
      state,
      readingsAt(
        minute,
        { probe: "rows", values: [A, B, C].map((target) => [target, 5] as const) },
        {
          probe: "sums",
          values: [
            [A, 7],
            [B, 7],
            [C, 8],
          ],
        },
      ),
    ),
  NO_PARITY,
);

describe("observeReadings() of several probes", () => {
  it("compares values of one probe alone with each other, and each pair once", () => {
    expect(resultsOf(KNOWN)).toEqual([
      "rows b-a: equal",
      "rows c-a: equal",
      "rows c-b: equal",
      "sums b-a: equal",
      "sums c-a: different",
      "sums c-b: different",
    ]);
  });

  it("knows one source for each target of each probe that was read", () => {
    const state = observe(NO_PARITY, readingsAt(1, { probe: "sums", values: [[A, 7]] }));

    expect(state.sources.map(({ probe, target }) => [probe, target])).toEqual([["sums", A.key]]);
  });

  it("compares only the pairs of what was read, since the others said nothing new", () => {
    const state = observe(NO_PARITY, readingsAt(1, { probe: "rows", values: [[A, 5]] }));

    expect(resultsOf(state)).toEqual(["rows b-a: unknown", "rows c-a: unknown"]);
  });

  it.each([
    { target: A, results: ["rows b-a: unknown", "rows c-a: unknown", "rows c-b: equal"] },
    { target: B, results: ["rows b-a: unknown", "rows c-a: equal", "rows c-b: unknown"] },
    { target: C, results: ["rows b-a: equal", "rows c-a: unknown", "rows c-b: unknown"] },
  ])("leaves the pairs of others than $target.variant as they were, however old", ({ target, results }) => {
    const state = observe(KNOWN, readingsAt(500, { probe: "rows", values: [[target, 5]] }));

    expect(resultsOf(state)).toEqual([...results, ...resultsOf(KNOWN).slice(3)]);
  });

  it("dates a comparison by the latest reading of the tick, in whatever order they came", () => {
    const taken = readingsAt(1, { probe: "rows", values: [[A, 5]] });
    const slower = takenReading(B, {
      block: 1_001,
      value: parityValue(5),
      atMs: T0 + MINUTE + 20_000,
    });

    const results = [
      [...taken, slower],
      [slower, ...taken],
    ].map((readings) => observe(NO_PARITY, readings).pairs[0]);

    expect(results.map((pair) => pair?.sinceMs)).toEqual([T0 + MINUTE + 20_000, T0 + MINUTE + 20_000]);
  });
});

describe("knownValuesOf() and pairStateOf()", () => {
  it("find the values of the target and the probe that are asked for", () => {
    const texts = [ROWS, SUMS].map(({ name }) =>
      [A, C].map(({ key }) => knownValuesOf(KNOWN, { probe: name, target: key })?.runs.at(-1)?.text),
    );

    expect(texts).toEqual([
      ["5", "5"],
      ["7", "8"],
    ]);
    expect(knownValuesOf(KNOWN, { probe: "never", target: A.key })).toBeUndefined();
  });

  it("find the pair of the probe that is asked for, and have a new one where it was never compared", () => {
    const pair = { target: C, against: A };

    expect([ROWS, SUMS].map((probe) => pairStateOf(KNOWN, probe, pair).result)).toEqual([
      "equal",
      "different",
    ]);
    expect(pairStateOf(KNOWN, SUMS, { target: A, against: C })).toMatchObject({
      probe: "sums",
      target: A.key,
      against: C.key,
      result: "unknown",
      last: null,
    });
  });
});

describe("retainParity() of several probes", () => {
  const withoutPair = (probe: WatchedProbe, { target, against }: ParityPair): WatchedProbe => ({
    ...probe,
    pairs: probe.pairs.filter((pair) => pair.target.key !== target.key || pair.against.key !== against.key),
  });
  const withOther = (probe: WatchedProbe, key: string): WatchedProbe => ({
    ...probe,
    targets: probe.targets.map((one) => (one.target.key === key ? { ...one, query: "other" } : one)),
  });

  it("keeps all that is still compared", () => {
    expect(retainParity(KNOWN, [ROWS, SUMS], () => true)).toEqual(KNOWN);
  });

  it("forgets the pair that one probe no longer compares, and keeps that of the other probe", () => {
    const { sources, pairs } = retainParity(
      KNOWN,
      [ROWS, withoutPair(SUMS, { target: C, against: A })],
      () => true,
    );

    expect(sources).toEqual(KNOWN.sources);
    expect(resultsOf({ sources, pairs })).toEqual(
      resultsOf(KNOWN).filter((result) => !result.startsWith("sums c-a")),
    );
  });

  it("forgets a probe that is gone, and keeps the other one", () => {
    const { sources, pairs } = retainParity(KNOWN, [SUMS], () => true);

    expect(sources).toEqual(KNOWN.sources.filter(({ probe }) => probe === "sums"));
    expect(pairs).toEqual(KNOWN.pairs.filter(({ probe }) => probe === "sums"));
  });

  it.each([
    { target: A, kept: "sums c-b: different" },
    { target: B, kept: "sums c-a: different" },
    { target: C, kept: "sums b-a: equal" },
  ])("forgets what rests on the other query of one target, and keeps $kept", ({ target, kept }) => {
    const retained = retainParity(KNOWN, [ROWS, withOther(SUMS, target.key)], () => true);

    expect(retained.sources).toHaveLength(5);
    expect(knownValuesOf(retained, { probe: "sums", target: target.key })).toBeUndefined();
    expect(resultsOf(retained)).toEqual(["rows b-a: equal", "rows c-a: equal", "rows c-b: equal", kept]);
  });
});

describe("shiftParity() of sources", () => {
  it("moves the time of each reading, and leaves a source that was never read without one", () => {
    const { sources } = shiftParity(
      {
        ...KNOWN,
        sources: KNOWN.sources.map((known, at) => (at === 0 ? { ...known, lastMs: null } : known)),
      },
      MINUTE,
    );

    const [first, ...others] = KNOWN.sources;
    expect(sources).toEqual([
      { ...first, lastMs: null },
      ...others.map((known) => ({ ...known, lastMs: T0 + 4 * MINUTE })),
    ]);
  });
});

describe("parityStaleMs()", () => {
  const hourly = targetOn(BASE, "airdrops/d", 60 * MINUTE);

  it.each<{ case: string; pair: ParityPair; everyMs: number; minutes: number }>([
    { case: "the chain's limit at least", pair: { target: A, against: B }, everyMs: MINUTE, minutes: 5 },
    {
      case: "three of the probe's intervals",
      pair: { target: A, against: B },
      everyMs: 2 * MINUTE,
      minutes: 6,
    },
    {
      case: "three intervals of the target, where that is polled less often",
      pair: { target: hourly, against: B },
      everyMs: MINUTE,
      minutes: 180,
    },
    {
      case: "three intervals of the other, where that is polled less often",
      pair: { target: A, against: hourly },
      everyMs: MINUTE,
      minutes: 180,
    },
  ])("is $case", ({ pair, everyMs, minutes }) => {
    expect(parityStaleMs({ ...ROWS, everyMs }, pair, 5 * MINUTE)).toBe(minutes * MINUTE);
  });
});
