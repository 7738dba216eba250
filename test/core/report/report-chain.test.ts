import { describe, expect, it } from "vitest";
import { type ChainClock, NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { Status } from "../../../src/core/model/report.ts";
import { reportGaps, reportReference, reportTargets } from "../../../src/core/report/report-chain.ts";
import { type LastPoll, newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { viewOf } from "../../../src/core/status/view.ts";
import { BASE, T0, targetOn, watch } from "../chain/chain-fixture.ts";

const WATCHED = watch(BASE, "a/x", "a/y");
const TIMES = { sentAtMs: T0, receivedAtMs: T0 };
const FAILED: LastPoll = { kind: "failed", reason: "dns", detail: "", ...TIMES };
const STALE_MS = 300_001;

/** The chain was seen at 900 at T0 - 200 s, and at 1,000 at T0. */
const CLOCK: ChainClock = { ...NEW_CLOCK, seen: { blocks: [900, 1_000], timesMs: [T0 - 200_000, T0] } };
const REFERENCE: HeadState = {
  block: 1_000,
  reachedMs: T0,
  atMs: T0,
  slackMs: 0,
  freshUntilMs: T0 + 900_000,
};

const CONSENSUS = { ...NO_CONSENSUS, head: REFERENCE, members: ["a/x", "a/y"] };

function source(name: string, block: number, changed: Partial<SourceState> = {}): SourceState {
  const identity = { key: targetOn(BASE, name).key, kind: "indexer", pollIntervalMs: 15_000 } as const;
  return {
    ...newSource(identity),
    last: { kind: "head", ...TIMES },
    samples: [{ block, timestampSec: null, hash: null, ...TIMES }],
    verdict: { status: "ok", dissent: 0 },
    ...changed,
  };
}

/** What was said so long after the height. */
function missingAt(laterMs: number) {
  return { kind: "missing", sentAtMs: T0 + laterMs, receivedAtMs: T0 + laterMs } as const;
}

function gapOf(low: number, high: number): Pick<SourceState, "gap"> {
  return { gap: { lows: [low], highs: [high], newest: { atMs: T0, partnerMs: T0 } } };
}

interface Known {
  readonly sources: readonly SourceState[];
  readonly changed?: Partial<ChainState>;
  readonly laterMs?: number;
  readonly chain?: typeof BASE;
}

function look({ sources, changed = {}, laterMs = 0, chain = BASE }: Known) {
  const state: ChainState = { sources, consensus: CONSENSUS, clock: CLOCK, ...changed };
  const view = viewOf(state, chain, T0 + laterMs);
  return {
    reference: reportReference(view),
    targets: reportTargets(state, WATCHED, view),
    gaps: reportGaps(state, WATCHED, view),
  };
}

describe("reportReference()", () => {
  it("tells when the chain made it, if anybody knows", () => {
    const unknown = { ...BASE, blockTimeMs: null };

    expect(look({ sources: [] }).reference).toEqual({
      block: 1_000,
      sources: 2,
      members: ["a/x", "a/y"],
      opposed: [],
      timeMs: T0,
    });
    expect(look({ sources: [], changed: { clock: NEW_CLOCK }, chain: unknown }).reference?.timeMs).toBeNull();
  });

  it("is null once its evidence is stale", () => {
    expect(look({ sources: [], laterMs: 900_001 }).reference).toBeNull();
  });
});

describe("reportTargets()", () => {
  it("tells the lag of a fresh height", () => {
    expect(look({ sources: [source("a/x", 970)] }).targets[0]).toMatchObject({
      block: 970,
      lagBlocks: 30,
      lagMs: 60_000,
      lagExtrapolated: false,
      up: true,
      reason: null,
      preferred: true,
    });
  });

  it("tells that a lag is extrapolated", () => {
    expect(look({ sources: [source("a/x", 800)] }).targets[0]).toMatchObject({
      lagBlocks: 200,
      lagExtrapolated: true,
    });
  });

  it.each([
    { case: "its height is stale", laterMs: STALE_MS, changed: {}, block: null },
    { case: "there is no reference", laterMs: 0, changed: { consensus: NO_CONSENSUS }, block: 970 },
  ])("tells no lag where $case", ({ laterMs, changed, block }) => {
    const [target] = look({ sources: [source("a/x", 970)], laterMs, changed }).targets;

    expect(target).toMatchObject({ block, lagBlocks: null, lagMs: null, lagExtrapolated: false });
  });

  it("tells no lag of a target on another chain", () => {
    const diverged = source("a/x", 970, { verdict: { status: "diverged", dissent: 0 } });

    expect(look({ sources: [diverged] }).targets[0]).toMatchObject({ block: 970, lagBlocks: null });
  });

  it("knows nothing of a target that was never heard", () => {
    expect(look({ sources: [] }).targets[0]).toMatchObject({
      status: "unknown",
      block: null,
      up: false,
      lagExtrapolated: false,
    });
  });

  it.each<{ case: string; changed: Partial<SourceState>; laterMs: number; status: Status }>([
    { case: "before a verdict", changed: { verdict: null }, laterMs: 0, status: "unknown" },
    { case: "before a poll", changed: { last: null }, laterMs: 0, status: "unknown" },
    { case: "while fresh", changed: {}, laterMs: 300_000, status: "ok" },
    { case: "once stale", changed: {}, laterMs: STALE_MS, status: "unknown" },
    { case: "after a failure, while fresh", changed: { last: FAILED }, laterMs: 300_000, status: "ok" },
    {
      case: "after a failure, once stale",
      changed: { last: FAILED },
      laterMs: STALE_MS,
      status: "unreachable",
    },
    {
      case: "after a failure, settled and stale",
      changed: { last: FAILED, verdict: { status: "unreachable", dissent: 0 } },
      laterMs: STALE_MS,
      status: "unreachable",
    },
    {
      case: "after it was missing once, while fresh",
      changed: { last: missingAt(1_000) },
      laterMs: 300_000,
      status: "ok",
    },
    {
      case: "after it was missing once, with a stale height",
      changed: { last: missingAt(1_000) },
      laterMs: STALE_MS,
      status: "missing",
    },
    {
      case: "after it began anew, with a stale height",
      changed: { last: { ...missingAt(1_000), kind: "not_started" } },
      laterMs: STALE_MS,
      status: "syncing",
    },
    {
      case: "after all of it is stale",
      changed: { last: missingAt(1_000) },
      laterMs: STALE_MS + 1_000,
      status: "unknown",
    },
  ])("is $status $case", ({ changed, laterMs, status }) => {
    expect(look({ sources: [source("a/x", 970, changed)], laterMs }).targets[0]?.status).toBe(status);
  });
});

describe("reportGaps()", () => {
  const against = source("a/x", 1_000);

  it("tells a gap in tenths of a block and in time", () => {
    const own = source("a/y", 970, gapOf(29, 31.3));

    expect(look({ sources: [against, own] }).gaps).toEqual([
      {
        target: targetOn(BASE, "a/y"),
        against: "x",
        blocks: 30.2,
        seconds: expect.closeTo(60.4),
        uncertaintyBlocks: expect.closeTo(1.15),
      },
    ]);
  });

  it.each([
    { case: "its end", block: 965, blocks: 40 },
    { case: "its beginning", block: 950, blocks: 15 },
  ])("knows no time where nobody can tell $case", ({ block, blocks }) => {
    const own = source("a/y", block, gapOf(blocks, blocks));
    const clock = { ...NEW_CLOCK, seen: { blocks: [960, 970], timesMs: [T0 - 20_000, T0] } };
    const chain = { ...BASE, blockTimeMs: null };

    const [gap] = look({ sources: [against, own], changed: { clock }, chain }).gaps;

    expect(gap).toMatchObject({ blocks, seconds: null });
  });

  it.each([
    { case: "nothing was measured", sources: [against, source("a/y", 970)], laterMs: 0 },
    { case: "the target was not heard", sources: [against], laterMs: 0 },
    { case: "the other was not heard", sources: [source("a/y", 970, gapOf(30, 30))], laterMs: 0 },
    { case: "both are stale", sources: [against, source("a/y", 970, gapOf(30, 30))], laterMs: STALE_MS },
    { case: "there is nothing to compare with", sources: [source("a/x", 970, gapOf(30, 30))], laterMs: 0 },
  ])("tells no gap where $case", ({ sources, laterMs }) => {
    expect(look({ sources, laterMs }).gaps).toEqual([]);
  });
});
