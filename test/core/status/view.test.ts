import { describe, expect, it } from "vitest";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { NO_CONSENSUS, type Opposition } from "../../../src/core/head/consensus.ts";
import type { Timeline } from "../../../src/core/head/timeline.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { paceOf, paceRangeOf, viewOf } from "../../../src/core/status/view.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";

const MINUTE_MS = 60_000;

function reference(block: number): HeadState {
  return {
    block,
    reachedMs: T0,
    atMs: T0,
    slackMs: 0,
    freshUntilMs: T0 + 300_000,
  };
}

/** A node that gave `block` at T0, and had first given it `idleMs` before. */
function node(block: number, idleMs: number, changed: Partial<SourceState> = {}): SourceState {
  const times = { sentAtMs: T0, receivedAtMs: T0 };
  return {
    ...newSource({ key: "rpc/base/0", kind: "rpc", pollIntervalMs: 15_000 }),
    samples: [{ block, timestampSec: null, hash: null, ...times }],
    peak: { block, atMs: T0 - idleMs },
    ...changed,
  };
}

/** A node's block that has a timestamp of `ageMs` before T0. */
function dated(block: number, idleMs: number, ageMs: number): SourceState {
  const { samples, ...rest } = node(block, idleMs);
  return { ...rest, samples: samples.map((one) => ({ ...one, timestampSec: (T0 - ageMs) / 1_000 })) };
}

const NOBODY: readonly Opposition[] = [];

function view(
  sources: readonly SourceState[],
  { nowMs = T0, head = 1_000 as number | null, clock = NEW_CLOCK, chain = BASE, opposed = NOBODY } = {},
) {
  return viewOf(
    { sources, clock, consensus: { ...NO_CONSENSUS, head: head === null ? null : reference(head), opposed } },
    chain,
    nowMs,
  );
}

/** A block each `intervalMs`, for `count` blocks up to T0. */
function steady(intervalMs: number, count: number): Timeline {
  const blocks = Array.from({ length: count }, (_, index) => index);
  return { blocks, timesMs: blocks.map((block) => T0 - (count - 1 - block) * intervalMs) };
}

describe("viewOf()", () => {
  it("goes by the configured pace until one is measured", () => {
    expect(view([])).toMatchObject({
      intervalMs: 2_000,
      measuredIntervalMs: null,
      pace: { intervalMs: 2_000, measured: false },
    });
    expect(view([], { clock: { ...NEW_CLOCK, seen: steady(3_000, 100) } })).toMatchObject({
      intervalMs: 3_000,
      measuredIntervalMs: 3_000,
      pace: { intervalMs: 3_000, measured: true },
    });
  });

  it.each([
    { laterMs: 300_000, known: true },
    { laterMs: 300_001, known: false },
  ])("knows the reference: $known, $laterMs ms after it was told", ({ laterMs, known }) => {
    expect(view([], { nowMs: T0 + laterMs }).reference !== null).toBe(known);
  });

  it("has none where there is none", () => {
    expect(view([], { head: null }).reference).toBeNull();
  });

  it.each([
    { case: "an RPC node", source: node(1_000, 0), laterMs: 300_000, independent: true },
    { case: "an RPC node of a while ago", source: node(1_000, 0), laterMs: 300_001, independent: false },
    { case: "an indexer", source: node(1_000, 0, { kind: "indexer" }), laterMs: 0, independent: false },
    {
      case: "a node without a height",
      source: node(1_000, 0, { samples: [] }),
      laterMs: 0,
      independent: false,
    },
  ])("has an independent head by $case: $independent", ({ source, laterMs, independent }) => {
    expect(view([source], { nowMs: T0 + laterMs }).independent).toBe(independent);
  });
});

it("has no independent head by a node that the others contradict", () => {
  const opposition = { kind: "times", by: ["a"], block: 1_000, blocks: 0, offMs: null } as const;
  const opposed = [{ ...opposition, source: "rpc/base/0" }];

  expect(view([node(1_000, 0)], { opposed }).independent).toBe(false);
});

describe("viewOf() a halt", () => {
  const LONG_MS = 10 * MINUTE_MS + 1;

  it.each([
    { case: "for ten minutes", sources: [node(1_000, LONG_MS - 1)], haltedAt: null },
    { case: "for longer", sources: [node(1_000, LONG_MS)], haltedAt: 1_000 },
    { case: "three blocks below the reference", sources: [node(997, LONG_MS)], haltedAt: 997 },
    { case: "further below it", sources: [node(996, LONG_MS)], haltedAt: null },
    {
      case: "as all others do, at another height",
      sources: [node(1_000, LONG_MS), node(998, LONG_MS)],
      haltedAt: 1_000,
    },
    { case: "while another moves", sources: [node(1_000, LONG_MS), node(998, 0)], haltedAt: null },
    {
      case: "and has never had a height",
      sources: [node(1_000, LONG_MS, { peak: null })],
      haltedAt: null,
    },
    { case: "by two answers and its time", sources: [dated(1_000, 1, LONG_MS)], haltedAt: 1_000 },
    {
      case: "by the time of an old block, to which it fell back",
      sources: [{ ...dated(1_000, 15_000, LONG_MS), peak: { block: 2_700, atMs: T0 - 15_000 } }],
      haltedAt: null,
    },
    { case: "by its time after one answer", sources: [dated(1_000, 0, LONG_MS)], haltedAt: null },
    { case: "for a moment, at a block of now", sources: [dated(1_000, 1, 0)], haltedAt: null },
    { case: "whatever its time says", sources: [dated(1_000, LONG_MS, 0)], haltedAt: 1_000 },
    { case: "and is an indexer", sources: [node(1_000, LONG_MS, { kind: "indexer" })], haltedAt: null },
  ])("is at $haltedAt where an RPC node stands still $case", ({ sources, haltedAt }) => {
    expect(view(sources).haltedAt).toBe(haltedAt);
  });

  it("is nowhere without an RPC node, and needs no reference", () => {
    expect(view([], { head: null }).haltedAt).toBeNull();
    expect(view([node(5, LONG_MS)], { head: null }).haltedAt).toBe(5);
  });

  it("takes fifty blocks of a slow chain", () => {
    const slow = { ...BASE, blockTimeMs: 60_000 };

    expect(view([node(1_000, 50 * MINUTE_MS)], { chain: slow }).haltedAt).toBeNull();
    expect(view([node(1_000, 50 * MINUTE_MS + 1)], { chain: slow }).haltedAt).toBe(1_000);
  });
});

describe("paceOf()", () => {
  it("is measured, else configured, else unknown", () => {
    const unknown = { ...BASE, blockTimeMs: null };

    expect(paceOf({ ...NEW_CLOCK, seen: steady(3_000, 100) }, BASE)).toEqual({
      intervalMs: 3_000,
      measured: true,
    });
    expect(paceOf(NEW_CLOCK, BASE)).toEqual({ intervalMs: 2_000, measured: false });
    expect(paceOf(NEW_CLOCK, unknown)).toEqual({ intervalMs: null, measured: false });
  });
});

describe("paceRangeOf()", () => {
  it("allows for a configured pace that is wrong by a factor of two", () => {
    expect(paceRangeOf(NEW_CLOCK, BASE)).toEqual({ least: 0.5 / 2_000, most: 2 / 2_000 });
  });

  it("is unknown where nobody knows the pace", () => {
    expect(paceRangeOf(NEW_CLOCK, { ...BASE, blockTimeMs: null })).toBeNull();
  });

  it("allows a measured pace three parts in a hundred", () => {
    const clock = { ...NEW_CLOCK, seen: steady(2_000, 400) };

    expect(paceRangeOf(clock, BASE)).toEqual({ least: 0.97 / 2_000, most: 1.03 / 2_000 });
  });

  it("spans the pace of the last minute and that of the last ten", () => {
    const reported = steady(4_000, 200);
    const clock = { reported, seen: steady(1_000, 700) };

    expect(paceRangeOf(clock, BASE)).toEqual({ least: 0.97 / 4_000, most: 1.03 / 1_000 });
  });
});
