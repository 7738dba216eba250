import { describe, expect, it } from "vitest";
import { type BackOff, backOff, isBackingOff, NO_BACK_OFF } from "../../src/budgets/back-off.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37);
const HOUR_MS = 3_600_000;

describe("backOff()", () => {
  it("lasts until the time that the provider names, and no longer", () => {
    const state = refuse(NO_BACK_OFF, { untilMs: T0 + 7_000 });

    expect([isBackingOff(state, T0 + 6_999), isBackingOff(state, T0 + 7_000)]).toEqual([true, false]);
  });

  it.each([
    { case: "names no time", untilMs: null },
    { case: "names a time that is over", untilMs: T0 - 1 },
    { case: "names this very instant", untilMs: T0 },
  ])("lasts 30 s when the provider $case, a random share up to a half taken off", ({ untilMs }) => {
    const lasts = [0, 0.5, 1].map((random) => refuse(NO_BACK_OFF, { untilMs, random }).untilMs - T0);

    expect(lasts).toEqual([30_000, 22_500, 15_000]);
  });

  it("doubles up to an hour while refusals follow each other", () => {
    let state = NO_BACK_OFF;

    const lasts = Array.from({ length: 9 }, () => {
      const nowMs = Math.max(T0, state.untilMs + 1_000);
      state = refuse(state, { nowMs });
      return (state.untilMs - nowMs) / 1_000;
    });

    expect(lasts).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  });

  it("starts anew after it was over for as long as it lasted", () => {
    const twice = refuse(refuse(NO_BACK_OFF, {}), { nowMs: T0 + 31_000 });

    const later = refuse(twice, { nowMs: twice.untilMs + 60_000 });

    expect([twice.delayMs, later.delayMs]).toEqual([60_000, 30_000]);
  });

  it("counts answers to requests that were under way together once", () => {
    const once = refuse(NO_BACK_OFF, {});

    expect(refuse(once, { nowMs: T0 + 300 })).toEqual(once);
  });

  it("is never shortened by a later refusal", () => {
    const long = refuse(NO_BACK_OFF, { untilMs: T0 + 60_000 });

    expect(refuse(long, { untilMs: T0 + 5_000 }).untilMs).toBe(T0 + 60_000);
  });

  it("lasts no longer than the caller allows", () => {
    expect(refuse(NO_BACK_OFF, { untilMs: T0 + 9_000 * HOUR_MS }).untilMs).toBe(T0 + 24 * HOUR_MS);
  });
});

function refuse(
  former: BackOff,
  refusal: { readonly nowMs?: number; readonly untilMs?: number | null; readonly random?: number },
): BackOff {
  return backOff(former, { nowMs: T0, untilMs: null, random: 0, longestMs: 24 * HOUR_MS, ...refusal });
}
