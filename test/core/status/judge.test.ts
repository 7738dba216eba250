import { describe, expect, it } from "vitest";
import { type ChainClock, NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { NO_CONSENSUS, type Opposition } from "../../../src/core/head/consensus.ts";
import { CERTAIN_WEIGHT, NORMAL_WEIGHT, WEAK_WEIGHT } from "../../../src/core/source/settled-status.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import {
  behindMs,
  type ChainView,
  contradictionOf,
  idleMs,
  stalledAfterMs,
  statusVote,
} from "../../../src/core/status/judge.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";

const MINUTE_MS = 60_000;
const { thresholds } = BASE;

/** The chain makes a block each 2 s, and was at 10,000 at T0. */
const CLOCK: ChainClock = {
  ...NEW_CLOCK,
  seen: { blocks: [1_000, 10_000], timesMs: [T0 - 18_000_000, T0] },
};
const REFERENCE: HeadState = {
  block: 10_000,
  reachedMs: T0,
  atMs: T0,
  slackMs: 0,
  freshUntilMs: T0 + 300_000,
};
const VIEW: ChainView = {
  thresholds,
  clock: CLOCK,
  intervalMs: 2_000,
  pace: { intervalMs: 2_000, measured: true },
  reference: REFERENCE,
  consensus: NO_CONSENSUS,
  haltedAt: null,
};
/** The others exclude the target. */
function opposedBy(kind: Opposition["kind"]): ChainView {
  const opposition = { source: "a", kind, by: ["b", "c"], block: 10_000, blocks: 0, offMs: null };
  return { ...VIEW, consensus: { opposed: [opposition] } };
}

const ALONE: ChainView = { ...VIEW, reference: null };

/** Heights that were read 15 s apart, the last at T0; the peak is where the last one stands. */
function target(blocks: readonly number[], changed: Partial<SourceState> = {}): SourceState {
  const times = { sentAtMs: T0, receivedAtMs: T0 };
  const samples = blocks.map((block, index) => {
    const atMs = T0 - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs };
  });
  return {
    ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }),
    last: { kind: "head", ...times },
    samples,
    peak: { block: blocks.at(-1) ?? 0, atMs: T0 },
    ...changed,
  };
}

/** The same with timestamps of `agesSec` at T0, oldest first. */
function dated(blocks: readonly number[], agesSec: readonly number[]): SourceState {
  const state = target(blocks);
  const samples = state.samples.map((sample, index) => ({
    ...sample,
    timestampSec: T0 / 1_000 - (agesSec[index] ?? 0),
  }));
  return { ...state, samples };
}

const TIP = [9_977, 9_985, 9_992, 10_000] as const;
/** 20 min behind, at the chain's pace. */
const LATE = [9_385, 9_392, 9_400] as const;

describe("opinionOf()", () => {
  it("has none before the first poll", () => {
    expect(statusVote(target([], { last: null }), VIEW)).toBeNull();
  });

  it.each([
    { last: { kind: "missing" }, opinion: { status: "missing", weight: NORMAL_WEIGHT } },
    { last: { kind: "not_started" }, opinion: { status: "syncing", weight: NORMAL_WEIGHT } },
    {
      last: { kind: "failed", reason: "timeout", detail: "" },
      opinion: { status: "unreachable", weight: WEAK_WEIGHT },
    },
    {
      last: { kind: "failed", reason: "budget", detail: "" },
      opinion: { status: "throttled", weight: CERTAIN_WEIGHT },
    },
    {
      last: { kind: "failed", reason: "not_found", detail: "" },
      opinion: { status: "not_found", weight: NORMAL_WEIGHT },
    },
  ] as const)("of a poll that ended $last is $opinion", ({ last, opinion }) => {
    const times = { sentAtMs: T0, receivedAtMs: T0 };

    expect(statusVote(target(TIP, { last: { ...last, ...times } }), VIEW)).toEqual(opinion);
  });

  it.each([
    { verdict: null, weight: NORMAL_WEIGHT },
    { verdict: "unknown", weight: CERTAIN_WEIGHT },
    { verdict: "rejected", weight: CERTAIN_WEIGHT },
    { verdict: "throttled", weight: CERTAIN_WEIGHT },
    { verdict: "not_found", weight: CERTAIN_WEIGHT },
    { verdict: "unreachable", weight: CERTAIN_WEIGHT },
    { verdict: "missing", weight: CERTAIN_WEIGHT },
    { verdict: "failed", weight: NORMAL_WEIGHT },
    { verdict: "stalled", weight: NORMAL_WEIGHT },
    { verdict: "ok", weight: NORMAL_WEIGHT },
  ] as const)("of a height weighs $weight after $verdict", ({ verdict, weight }) => {
    const settled = verdict === null ? null : { status: verdict, dissent: 0 };

    expect(statusVote(target(TIP, { verdict: settled }), VIEW)?.weight).toBe(weight);
  });

  it("of a third height is still certain", () => {
    expect(statusVote(target(TIP.slice(-3)), VIEW)?.weight).toBe(CERTAIN_WEIGHT);
  });
});

describe("opinionOf() a height", () => {
  const still = { peak: { block: 10_000, atMs: T0 - 10 * MINUTE_MS } };
  const stillLonger = { peak: { block: 10_000, atMs: T0 - 10 * MINUTE_MS - 1 } };

  it.each([
    { case: "level", state: target(TIP), view: VIEW, status: "ok" },
    {
      case: "with indexing errors",
      state: target(TIP, { indexingErrors: true }),
      view: VIEW,
      status: "failed",
    },
    { case: "without", state: target(TIP, { indexingErrors: false }), view: VIEW, status: "ok" },
    { case: "that is opposed", state: target(TIP), view: opposedBy("times"), status: "diverged" },
    { case: "opposed as merely lower", state: target(TIP), view: opposedBy("below"), status: "ok" },
    {
      case: "where the chain stands",
      state: target(TIP),
      view: { ...VIEW, haltedAt: 10_000 },
      status: "chain_halted",
    },
    {
      case: "three blocks beyond",
      state: target(TIP),
      view: { ...VIEW, haltedAt: 9_997 },
      status: "chain_halted",
    },
    { case: "further beyond", state: target(TIP), view: { ...VIEW, haltedAt: 9_996 }, status: "ok" },
    { case: "still for ten minutes", state: target(TIP, still), view: VIEW, status: "ok" },
    { case: "still for longer", state: target(TIP, stillLonger), view: VIEW, status: "stalled" },
    {
      case: "still for ten minutes, a block each 15 s",
      state: target(TIP, stillLonger),
      view: { ...VIEW, intervalMs: 15_000 },
      status: "ok",
    },
    { case: "among a chain's first", state: target([1, 2, 3]), view: ALONE, status: "ok" },
    { case: "ten minutes behind", state: target([9_685, 9_692, 9_700]), view: VIEW, status: "ok" },
    { case: "a block more behind", state: target([9_684, 9_691, 9_699]), view: VIEW, status: "lagging" },
  ] as const)("$case is $status", ({ state, view, status }) => {
    expect(statusVote(state, view)?.status).toBe(status);
  });

  it.each([
    { case: "at the chain's pace", blocks: LATE, status: "lagging" },
    { case: "five blocks faster than a twentieth more", blocks: [9_380, 9_390, 9_400], status: "lagging" },
    { case: "by a block more", blocks: [9_379, 9_390, 9_400], status: "syncing" },
    { case: "on a single height", blocks: [9_400], status: "lagging" },
  ])("far behind, catching up $case, is $status", ({ blocks, status }) => {
    expect(statusVote(target(blocks), VIEW)?.status).toBe(status);
  });

  it("far behind is lagging, not catching up, once it has been at the tip", () => {
    expect(statusVote(target([9_000, 9_200, 9_400], { reachedTip: true }), VIEW)?.status).toBe("lagging");
  });

  it.each([
    { case: "at our pace", agesSec: [1_230, 1_215, 1_200], status: "lagging" },
    { case: "ten seconds faster than a twentieth more", agesSec: [1_241, 1_220, 1_200], status: "lagging" },
    { case: "faster than that", agesSec: [1_242, 1_220, 1_200], status: "syncing" },
  ])("without a reference, twenty minutes old and catching up $case, is $status", ({ agesSec, status }) => {
    expect(statusVote(dated(LATE, agesSec), ALONE)?.status).toBe(status);
  });

  it("without a reference and a known pace goes by its timestamps alone", () => {
    const view = { ...ALONE, intervalMs: null };

    expect(statusVote(dated(LATE, [1_231, 1_215, 1_200]), view)?.status).toBe("lagging");
    expect(statusVote(dated(LATE, [1_232, 1_215, 1_200]), view)?.status).toBe("syncing");
  });

  it("with a reference and no known pace goes by its timestamps", () => {
    const view = { ...VIEW, intervalMs: null };

    expect(statusVote(dated(LATE, [1_232, 1_215, 1_200]), view)?.status).toBe("syncing");
  });

  it("may be five blocks and a twentieth faster, to the second", () => {
    const state = dated([9_385, 9_389, 9_392, 9_396, 9_400], [1_273, 1_250, 1_230, 1_220, 1_200]);

    expect(statusVote(state, ALONE)?.status).toBe("lagging");
  });

  it("without a reference and with timestamps of late only, is not known to catch up", () => {
    const { samples, ...rest } = dated([9_000, 9_200, 9_400], [0, 0, 1_200]);
    const [oldest, ...younger] = samples;
    const undated = oldest === undefined ? [] : [{ ...oldest, timestampSec: null }];

    expect(statusVote({ ...rest, samples: [...undated, ...younger] }, ALONE)?.status).toBe("lagging");
  });

  it.each([
    { case: "at the chain's pace", blocks: TIP, status: "ok" },
    { case: "in great haste", blocks: [1_000, 5_000, 10_000], status: "syncing" },
  ])("without a reference or a time, $case, is $status", ({ blocks, status }) => {
    expect(statusVote(target(blocks), ALONE)?.status).toBe(status);
  });
});

describe("stalledAfterMs()", () => {
  it.each([
    { intervalMs: null, ms: 600_000 },
    { intervalMs: 12_000, ms: 600_000 },
    { intervalMs: 12_001, ms: 600_050 },
  ])("is $ms for blocks of $intervalMs ms", ({ intervalMs, ms }) => {
    expect(stalledAfterMs(thresholds, intervalMs)).toBe(ms);
  });
});

describe("idleMs()", () => {
  it.each([
    {
      case: "since its peak",
      state: target(TIP, { peak: { block: 10_000, atMs: T0 - 70_000 } }),
      ms: 70_000,
    },
    {
      case: "0 after our clock was set back",
      state: target(TIP, { peak: { block: 1, atMs: T0 + 1 } }),
      ms: 0,
    },
    { case: "0 without a peak", state: target(TIP, { peak: null }), ms: 0 },
    { case: "0 without a height", state: target([], { peak: { block: 1, atMs: 0 } }), ms: 0 },
  ])("is $case", ({ state, ms }) => {
    expect(idleMs(state)).toBe(ms);
  });
});

describe("behindMs()", () => {
  it.each([
    { case: "by the reference", state: dated(LATE, [9, 9, 9]), view: VIEW, ms: 1_200_000 },
    { case: "by its block's age", state: dated(LATE, [39, 24, 9]), view: ALONE, ms: 9_000 },
    { case: "never negative", state: dated(LATE, [0, 0, -9]), view: ALONE, ms: 0 },
    { case: "unknown without either", state: target(LATE), view: ALONE, ms: null },
    { case: "unknown without a height", state: target([]), view: ALONE, ms: null },
    { case: "unknown without a height, by the reference", state: target([]), view: VIEW, ms: null },
  ])("is $case", ({ state, view, ms }) => {
    expect(behindMs(state, view)).toBe(ms);
  });
});

describe("contradictionOf()", () => {
  it.each([
    { kind: "times", key: "a", found: true },
    { kind: "below", key: "a", found: false },
    { kind: "ahead", key: "b", found: false },
  ] as const)("of $key, where a is opposed as `$kind`: $found", ({ kind, key, found }) => {
    expect(contradictionOf({ key }, opposedBy(kind)) !== null).toBe(found);
  });
});
