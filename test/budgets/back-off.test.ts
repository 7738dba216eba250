import { describe, expect, it } from "vitest";
import {
  allowProbe,
  type BackOff,
  backOff,
  endProbe,
  isBackingOff,
  NO_BACK_OFF,
  startProbe,
} from "../../src/budgets/back-off.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37);
const HOUR_MS = 3_600_000;

describe("backOff()", () => {
  it("resets once it has been over for as long as it lasted", () => {
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

  it("lasts an hour at most, whatever time the provider names", () => {
    const state = refuse(NO_BACK_OFF, { untilMs: T0 + 9_000 * HOUR_MS });

    expect(state).toMatchObject({ untilMs: T0 + HOUR_MS });
  });

  it("lasts until the end of the budget's window if the provider names that time", () => {
    const ends = { day: Date.UTC(2026, 10, 21), month: Date.UTC(2026, 11, 1) };

    for (const per of ["day", "month"] as const) {
      const untilMs = ends[per] + 2_000;
      expect(backOff(NO_BACK_OFF, { nowMs: T0, untilMs, random: 0 }, per)).toMatchObject({ untilMs });
    }
  });
});

describe("startProbe(), endProbe()", () => {
  const ended = T0 + 30_000;

  it("lets one request go after a back-off, and the others once it is answered", () => {
    const probed = startProbe(refuse(NO_BACK_OFF, {}), ended);
    const answered = endProbe(probed, ended + 400);

    expect(isBackingOff(probed, ended + 399)).toBe(true);
    expect(isBackingOff(answered, ended + 400)).toBe(false);
    expect(startProbe(answered, ended + 400)).toEqual(answered);
  });

  it("lets another go after a minute without an answer", () => {
    const probed = startProbe(refuse(NO_BACK_OFF, {}), ended);

    expect([isBackingOff(probed, ended + 59_999), isBackingOff(probed, ended + 60_000)]).toEqual([
      true,
      false,
    ]);
  });

  it("doubles the back-off when the probe is refused", () => {
    const refused = refuse(startProbe(refuse(NO_BACK_OFF, {}), ended), { nowMs: ended + 400 });

    expect(refused).toMatchObject({ delayMs: 60_000, untilMs: ended + 60_400, probe: "due" });
  });
});

describe("allowProbe()", () => {
  it("ends the wait at once, but not within a minute of the refusal", () => {
    const state = refuse(NO_BACK_OFF, { untilMs: T0 + HOUR_MS });

    expect(allowProbe(state, T0 + 1_000).untilMs).toBe(T0 + 60_000);
    expect(allowProbe(state, T0 + 600_000).untilMs).toBe(T0 + 600_000);
  });
});

function refuse(
  former: BackOff,
  refusal: { readonly nowMs?: number; readonly untilMs?: number | null; readonly random?: number },
): BackOff {
  return backOff(former, { nowMs: T0, untilMs: null, random: 0, ...refusal }, "day");
}
