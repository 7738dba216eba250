import { describe, expect, it } from "vitest";
import { behindMs, contradictionOf, idleMs, stalledAfterMs } from "../../../src/core/status/judge.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";
import { ALONE, dated, LATE, opposedBy, TIP, target, VIEW } from "./judge-fixture.ts";

describe("stalledAfterMs()", () => {
  it.each([
    { intervalMs: null, ms: 600_000 },
    { intervalMs: 12_000, ms: 600_000 },
    { intervalMs: 12_001, ms: 600_050 },
  ])("is $ms for blocks of $intervalMs ms", ({ intervalMs, ms }) => {
    expect(stalledAfterMs(BASE.thresholds, intervalMs)).toBe(ms);
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
    { case: "by its block's age, less a block", state: dated(LATE, [39, 24, 9]), view: ALONE, ms: 7_000 },
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
