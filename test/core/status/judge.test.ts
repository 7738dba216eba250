import { describe, expect, it } from "vitest";
import type { Replicas } from "../../../src/core/source/replicas.ts";
import { CERTAIN_WEIGHT, NORMAL_WEIGHT, WEAK_WEIGHT } from "../../../src/core/source/settled-status.ts";
import type { SourceState } from "../../../src/core/source/source-state.ts";
import { statusVote } from "../../../src/core/status/judge.ts";
import { T0 } from "../chain/chain-fixture.ts";
import { ALONE, dated, LATE, opposedBy, TIP, target, VIEW } from "./judge-fixture.ts";

const MINUTE_MS = 60_000;

describe("statusVote()", () => {
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

  it.each([
    {
      case: "a height that the others contradict, as one of its first",
      reason: "implausible",
      blocks: [10_000],
      view: opposedBy("ahead"),
      weight: CERTAIN_WEIGHT,
    },
    {
      case: "a height that the others contradict, later",
      reason: "implausible",
      blocks: TIP,
      view: opposedBy("ahead"),
      weight: NORMAL_WEIGHT,
    },
    {
      case: "what is no height, after one height",
      reason: "implausible",
      blocks: [10_000],
      view: VIEW,
      weight: NORMAL_WEIGHT,
    },
    {
      case: "a timeout of a source that the others contradict",
      reason: "timeout",
      blocks: [10_000],
      view: opposedBy("ahead"),
      weight: WEAK_WEIGHT,
    },
  ] as const)("weighs $weight after $case", ({ reason, blocks, view, weight }) => {
    const last = { kind: "failed", reason, detail: "", sentAtMs: T0, receivedAtMs: T0 } as const;

    expect(statusVote(target(blocks, { last }), view)?.weight).toBe(weight);
  });

  it("of a third height is still certain", () => {
    expect(statusVote(target(TIP.slice(-3)), VIEW)?.weight).toBe(CERTAIN_WEIGHT);
  });
});

describe("statusVote() a height", () => {
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

  // At 750 ms a block the chain makes 20 in the 15 s between the two heights.
  it.each([
    { case: "by exactly as much as is borne", blocks: [9_374, 9_400], status: "lagging" },
    { case: "by a block more", blocks: [9_373, 9_400], status: "syncing" },
  ])("far behind, going faster than its chain $case, is $status", ({ blocks, status }) => {
    expect(statusVote(target(blocks), { ...VIEW, intervalMs: 750 })?.status).toBe(status);
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

describe("statusVote() a height of a target whose replicas are often low", () => {
  /** The high replicas are at the tip, the low ones at these heights. */
  function withLow(blocks: readonly number[], replicas: Partial<Replicas> = {}): SourceState {
    const { samples } = target(blocks);
    const served = { answers: "hlhll", highBlock: 10_000, low: samples, disagree: true, isStale: true };
    return target(TIP, { replicas: { ...served, ...replicas } });
  }

  it.each([
    { case: "more than ten minutes behind", state: withLow(LATE), view: VIEW, status: "lagging" },
    { case: "ten minutes behind", state: withLow([9_700]), view: VIEW, status: "ok" },
    { case: "a block more behind", state: withLow([9_699]), view: VIEW, status: "lagging" },
    {
      case: "far behind, but rare",
      state: withLow(LATE, { isStale: false }),
      view: VIEW,
      status: "ok",
    },
    {
      case: "far behind the others, by a time that nobody knows",
      state: withLow(LATE),
      view: ALONE,
      status: "lagging",
    },
  ])("is judged by what its users are served: $case is $status", ({ state, view, status }) => {
    expect(statusVote(state, view)?.status).toBe(status);
  });
});
