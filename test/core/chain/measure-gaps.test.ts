import { describe, expect, it } from "vitest";
import { measureGaps } from "../../../src/core/chain/measure-gaps.ts";
import { startTick } from "../../../src/core/chain/tick.ts";
import { NO_MEASURES } from "../../../src/core/gap/gap.ts";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { WatchedChain } from "../../../src/core/head/chain-state.ts";
import { type Consensus, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { BASE, headAt, T0, targetOn } from "./chain-fixture.ts";

const [X, Y, Z, OTHER] = ["a/x", "a/y", "a/z", "b/y"] as const;
/** X is what Y and Z are compared with; OTHER is of another protocol. */
const WATCHED: WatchedChain = { chain: BASE, targets: [X, Y, Z, OTHER].map((name) => targetOn(BASE, name)) };

/** A target that gave these heights, one each `stepMs`, the last at T0. */
function known(name: string, blocks: readonly number[], stepMs = 15_000): SourceState {
  const times = { sentAtMs: T0 - 50, receivedAtMs: T0 + 50 };
  const samples = blocks.map((block, index) => {
    const agoMs = (blocks.length - 1 - index) * stepMs;
    return {
      block,
      timestampSec: null,
      hash: null,
      sentAtMs: T0 - 50 - agoMs,
      receivedAtMs: T0 + 50 - agoMs,
    };
  });
  const identity = { key: targetOn(BASE, name).key, kind: "indexer", pollIntervalMs: 15_000 } as const;
  return { ...newSource(identity), last: { kind: "head", ...times }, samples };
}

interface Known {
  readonly watched?: WatchedChain;
  readonly consensus?: Consensus;
}

/** What each source has measured after `heard` answered. */
function measuresAfter(
  heard: readonly string[],
  sources: readonly SourceState[],
  { watched = WATCHED, consensus = NO_CONSENSUS }: Known = {},
) {
  const before = { sources, consensus: NO_CONSENSUS, clock: NEW_CLOCK };
  const said = heard.map((name) => headAt(targetOn(BASE, name).key, T0, { block: 1 }));
  const bench = startTick(before, watched, said);
  if (bench === null) {
    throw new Error("Cannot lay out: nobody was heard");
  }
  measureGaps(bench, { clock: NEW_CLOCK, consensus });
  return bench.sources.map(({ gap }) => gap);
}

/** The middles of the newest of them. */
function gapsAfter(...asked: Parameters<typeof measuresAfter>) {
  return measuresAfter(...asked).map(({ lows, highs }) => {
    const [low, high] = [lows.at(-1), highs.at(-1)];
    return low === undefined || high === undefined ? null : (low + high) / 2;
  });
}

const ALL = [known(X, [1_000]), known(Y, [990]), known(Z, [970]), known(OTHER, [10])];

describe("measureGaps()", () => {
  it("pairs a target with what it is compared with", () => {
    expect(gapsAfter([Y], ALL)).toEqual([null, 10, null, null]);
  });

  it("pairs what the others are compared with with all of its protocol", () => {
    expect(gapsAfter([X], ALL)).toEqual([null, 10, 30, null]);
  });

  it("goes by the chosen baseline", () => {
    const watched = { ...WATCHED, baselines: { a: targetOn(BASE, Z).key } };

    expect(gapsAfter([X, Y], ALL, { watched })).toEqual([-30, -20, null, null]);
    expect(gapsAfter([Z], ALL, { watched })).toEqual([-30, -20, null, null]);
  });

  it("compares nothing with a target that is alone in its protocol", () => {
    expect(gapsAfter([OTHER], ALL)).toEqual([null, null, null, null]);
  });

  it.each([
    { case: "the other was never heard", sources: [known(Y, [990])] },
    { case: "the other has no height", sources: [known(X, []), known(Y, [990])] },
  ])("measures nothing where $case", ({ sources }) => {
    expect(gapsAfter([Y], sources).every((gap) => gap === null)).toBe(true);
  });

  it("measures nothing where its own height is not usable", () => {
    expect(gapsAfter([X], [known(X, [1_000]), known(Y, [])])).toEqual([null, null]);
    expect(gapsAfter([X], [known(X, [1_000])])).toEqual([null]);
  });

  it("measures nothing where nobody knows the pace", () => {
    const watched = { ...WATCHED, chain: { ...BASE, blockTimeMs: null } };

    expect(gapsAfter([Y], ALL, { watched })).toEqual([null, null, null, null]);
  });

  it.each([
    { case: "the target, polled as often,", slow: null, atMs: T0 - 15_000 },
    { case: "the target, polled less often,", slow: Y, atMs: T0 - 15_000 },
    { case: "the other, polled less often,", slow: X, atMs: T0 },
  ])("lets $case drive", ({ slow, atMs }) => {
    const targets = WATCHED.targets.map((target) =>
      slow !== null && target.key === targetOn(BASE, slow).key
        ? { ...target, pollIntervalMs: 60_000 }
        : target,
    );
    const own = { ...known(Y, []), samples: known(Y, [992, 1_000]).samples.slice(0, 1) };

    const [, measures] = measuresAfter([Y], [known(X, [1_022, 1_030]), own], {
      watched: { ...WATCHED, targets },
    });

    expect(measures?.lows).toHaveLength(1);
    expect(measures?.newest?.atMs).toBe(atMs);
  });

  it.each([
    { case: "less often", slow: Y },
    { case: "more often", slow: X },
  ])("has one sign for a target that is polled $case", ({ slow }) => {
    const targets = WATCHED.targets.map((target) =>
      target.key === targetOn(BASE, slow).key ? { ...target, pollIntervalMs: 60_000 } : target,
    );

    expect(gapsAfter([Y], ALL, { watched: { ...WATCHED, targets } })[1]).toBe(10);
  });

  it("compares nothing across protocols", () => {
    const watched = { ...WATCHED, baselines: { a: targetOn(BASE, X).key, b: targetOn(BASE, X).key } };

    expect(gapsAfter([X], ALL, { watched })).toEqual([null, 10, 30, null]);
  });

  it.each([X, Y])("knows no gap while the others contradict %s, and begins afresh after", (name) => {
    const source = targetOn(BASE, name).key;
    const opposition = { source, kind: "times", by: [], block: 1_000, blocks: 0, offMs: null } as const;
    const excluded = { ...NO_CONSENSUS, opposed: [opposition] };
    const measured = ALL.map((one) => ({ ...one, gap: { lows: [9], highs: [11], newest: null } }));

    expect(measuresAfter([Y], measured, { consensus: excluded })[1]).toEqual(NO_MEASURES);
    expect(measuresAfter([Y], measured)[1]?.lows).toHaveLength(2);
  });
});
