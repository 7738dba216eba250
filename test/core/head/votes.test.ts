import { describe, expect, it } from "vitest";
import type { Pace } from "../../../src/core/head/pace.ts";
import { isBackfilling, staleAfterMs, votesOf } from "../../../src/core/head/votes.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";

const PACE: Pace = { intervalMs: 2_000, measured: true };
const { thresholds } = BASE;

/** A source that gave one height each 15 s, the last at T0. */
function source(blocks: readonly number[], changed: Partial<SourceState> = {}): SourceState {
  const samples = blocks.map((block, index) => {
    const atMs = T0 - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs - 200, receivedAtMs: atMs };
  });
  return { ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }), samples, ...changed };
}

function aged(kind: SourceState["kind"], ageSec: number): SourceState {
  const { samples, ...rest } = source([1_000], { kind });
  return { ...rest, samples: samples.map((sample) => ({ ...sample, timestampSec: T0 / 1_000 - ageSec })) };
}

function votes(state: SourceState, nowMs = T0) {
  return votesOf([state], { nowMs, thresholds, pace: PACE });
}

describe("staleAfterMs()", () => {
  it.each([
    { pollIntervalMs: 15_000, staleMs: 300_000 },
    { pollIntervalMs: 600_000, staleMs: 1_800_000 },
  ])("is $staleMs for polls each $pollIntervalMs", ({ pollIntervalMs, staleMs }) => {
    expect(staleAfterMs(thresholds, pollIntervalMs)).toBe(staleMs);
  });
});

describe("votesOf()", () => {
  it("votes for the highest of the last three heights, at its own instant", () => {
    expect(votes(source([999, 1_000, 800, 900]))).toEqual([
      {
        block: 1_000,
        atMs: T0 - 30_100,
        slackMs: 100,
        timestampSec: null,
        freshUntilMs: T0 + 300_000,
        pollIntervalMs: 15_000,
        weight: "normal",
        steady: true,
      },
    ]);
  });

  it.each([
    { laterMs: 300_000, count: 1 },
    { laterMs: 300_001, count: 0 },
  ])("counts $count vote $laterMs ms after the last height", ({ laterMs, count }) => {
    expect(votes(source([1_000]), T0 + laterMs)).toHaveLength(count);
  });

  it("has no vote of a source without a height", () => {
    expect(votes(source([]))).toEqual([]);
  });

  it("is not steady on a single height", () => {
    expect(votes(source([1_000]))[0]?.steady).toBe(false);
  });

  it.each([
    { case: "a fresh block of an RPC node", state: aged("rpc", 59), weight: "proof" },
    { case: "a block of an RPC node that is just fresh", state: aged("rpc", 60), weight: "proof" },
    { case: "a block of an RPC node that is no longer fresh", state: aged("rpc", 61), weight: "normal" },
    { case: "a fresh block of an indexer", state: aged("indexer", 5), weight: "normal" },
    { case: "a block of just under ten minutes", state: aged("indexer", 599), weight: "normal" },
    { case: "a block of ten minutes", state: aged("indexer", 600), weight: "normal" },
    { case: "a block that is old by its own timestamp", state: aged("indexer", 601), weight: "behind" },
    { case: "an RPC node's that is old", state: aged("rpc", 601), weight: "behind" },
    { case: "a source that back-fills", state: source([1_000, 3_000]), weight: "behind" },
    { case: "a doubted source", state: source([1_000], { doubt: "its time is off" }), weight: "suspect" },
  ])("weighs $case as $weight", ({ state, weight }) => {
    expect(votes(state)[0]?.weight).toBe(weight);
  });

  it("keeps a source with nothing but an absurd claim as a suspect, as long as it claims", () => {
    const [sample] = source([30_000_000]).samples;
    const claim = sample === undefined ? null : { sample, polls: 4 };

    expect(votes(source([], { claim }))).toMatchObject([{ weight: "suspect", block: 30_000_000 }]);
    expect(votes(source([1_000], { claim }))).toMatchObject([{ weight: "suspect", block: 1_000 }]);
  });

  it("bears a block as old as a target may lag", () => {
    const patient = { ...thresholds, laggingMs: 1_200_000 };

    const weights = [1_200, 1_201].map(
      (ageSec) =>
        votesOf([aged("indexer", ageSec)], { nowMs: T0, thresholds: patient, pace: PACE })[0]?.weight,
    );

    expect(weights).toEqual(["normal", "behind"]);
  });

  it("lets a slow chain's RPC node be ten blocks old", () => {
    const slow = { intervalMs: 12_000, measured: true };

    const [vote] = votesOf([aged("rpc", 119)], { nowMs: T0, thresholds, pace: slow });

    expect(vote?.weight).toBe("proof");
  });
});

describe("isHasty()", () => {
  it.each([
    { case: "no height", blocks: [], hasty: false },
    { case: "a single height", blocks: [1_000], hasty: false },
    { case: "the chain's pace", blocks: [1_000, 1_007, 1_015], hasty: false },
    { case: "a wobble of replicas", blocks: [1_000, 1_207], hasty: false },
    { case: "back-filling", blocks: [1_000, 2_000, 3_000], hasty: true },
    { case: "back-filling that is over", blocks: [1_000, 3_000, 3_007], hasty: false },
    { case: "three times the pace and the wobble", blocks: [1_000, 1_322], hasty: false },
    { case: "a block more", blocks: [1_000, 1_323], hasty: true },
    {
      case: "three times the pace and the wobble, to the block",
      blocks: [1_000, 1_200, 1_345],
      hasty: false,
    },
    { case: "a block more than that", blocks: [1_000, 1_200, 1_346], hasty: true },
  ])("is $hasty for $case", ({ blocks, hasty }) => {
    expect(isBackfilling(source(blocks), PACE)).toBe(hasty);
  });

  it("has to go on at three times the pace", () => {
    const slow = { intervalMs: 5_000, measured: true };

    expect(isBackfilling(source([1_000, 2_000, 2_009]), slow)).toBe(false);
    expect(isBackfilling(source([1_000, 2_000, 2_010]), slow)).toBe(true);
  });

  it("goes by the fastest of chains where nobody knows the pace", () => {
    expect(isBackfilling(source([1_000, 1_700]), { intervalMs: null, measured: false })).toBe(false);
    expect(isBackfilling(source([1_000, 1_800]), { intervalMs: null, measured: false })).toBe(true);
  });
});
