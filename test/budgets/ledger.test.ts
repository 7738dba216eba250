import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  block,
  type Ledger,
  remainingAt,
  startLedger,
  take,
  type Use,
  usedAt,
} from "../../src/budgets/ledger.ts";
import type { Budget } from "../../src/core/model/fleet.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const T0 = Date.UTC(2026, 10, 20, 10, 37);

describe("take()", () => {
  it("allows the limit, and not one more", () => {
    const { ledger, allowed } = takeMany(start({ limit: 3 }), 4, { nowMs: T0, use: "scheduled" });

    expect(allowed).toEqual([true, true, true, false]);
    expect([usedAt(ledger, T0), remainingAt(ledger, T0)]).toEqual([3, 0]);
  });

  it("applies the rolling window across the start of a calendar day", () => {
    const beforeMidnight = Date.UTC(2026, 10, 20, 23, 59, 59);
    const { ledger } = takeMany(start({ limit: 3, per: "day" }), 3, {
      nowMs: beforeMidnight,
      use: "scheduled",
    });

    const { allowed } = take(ledger, "scheduled", beforeMidnight + 2_000);

    expect(allowed).toBe(false);
  });

  it.each([
    { per: "hour", windowMs: HOUR_MS },
    { per: "day", windowMs: DAY_MS },
    { per: "month", windowMs: 31 * DAY_MS },
  ] as const)("gives a use of $per back after one window, or a twenty-fourth later", ({ per, windowMs }) => {
    const { ledger } = takeMany(start({ limit: 1, per }), 1, { nowMs: T0, use: "scheduled" });

    expect(usedAt(ledger, T0 + windowMs - 1)).toBe(1);
    expect(usedAt(ledger, T0 + windowMs * (25 / 24))).toBe(0);
  });

  it("keeps what the schedule asks of a window free from spare uses", () => {
    const ledger = startLedger(budgetOf({ limit: 100, per: "day" }), 72);

    const spares = takeMany(ledger, 100, { nowMs: T0, use: "opportunistic" });
    const polls = takeMany(spares.ledger, 100, { nowMs: T0, use: "scheduled" });

    // 72 a day are 75 in the 25 hours that the ledger counts at most.
    expect([sum(spares.allowed), sum(polls.allowed)]).toEqual([25, 75]);
  });

  it("counts polls beyond the schedule against the spare uses", () => {
    const { ledger } = takeMany(startLedger(budgetOf({ limit: 100, per: "day" }), 72), 90, {
      nowMs: T0,
      use: "scheduled",
    });

    expect(sum(takeMany(ledger, 100, { nowMs: T0, use: "opportunistic" }).allowed)).toBe(10);
  });

  it("never refuses a poll of a schedule that fits, whatever is spared", () => {
    const anySpares = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 400, maxLength: 400 });
    fc.assert(
      fc.property(anySpares, (sparesPerRound) => {
        let ledger = startLedger(budgetOf({ limit: 160, per: "day" }), 144);

        for (const [round, spares] of sparesPerRound.entries()) {
          const nowMs = T0 + round * 10 * 60_000;
          const polled = take(ledger, "scheduled", nowMs);
          expect(polled.allowed).toBe(true);
          ledger = takeMany(polled.ledger, spares, { nowMs: nowMs + 1, use: "opportunistic" }).ledger;
        }
      }),
      { numRuns: 10 },
    );
  });

  it("counts what was made under a clock that was far ahead from the moment it is put right", () => {
    const { ledger } = takeMany(start({ limit: 2, per: "hour" }), 2, {
      nowMs: T0 + 900 * DAY_MS,
      use: "scheduled",
    });

    expect(usedAt(ledger, T0)).toBe(2);
    expect(usedAt(take(ledger, "scheduled", T0).ledger, T0 + 2 * HOUR_MS)).toBe(0);
  });

  it("remembers through a clock that is put ahead by hours and back", () => {
    const { ledger } = takeMany(start({ limit: 2, per: "day" }), 2, { nowMs: T0, use: "scheduled" });

    const ahead = take(ledger, "scheduled", T0 + 26 * HOUR_MS);
    const back = take(ahead.ledger, "scheduled", T0 + HOUR_MS);

    expect([ahead.allowed, back.allowed]).toEqual([true, false]);
  });

  it("forgets nothing that it joins to stay small", () => {
    let ledger = start({ limit: 1e9, per: "hour" });

    for (let nowMs = T0; nowMs < T0 + 10 * HOUR_MS; nowMs += 150_000) {
      ledger = take(ledger, "scheduled", nowMs).ledger;
    }

    expect(usedAt(ledger, T0)).toBe(240);
  });

  it("stays small over days of polls every minute", () => {
    let ledger = start({ limit: 1e9, per: "hour" });

    for (let nowMs = T0; nowMs < T0 + 3 * DAY_MS; nowMs += 60_000) {
      ledger = take(ledger, "scheduled", nowMs).ledger;
    }

    expect(ledger.buckets.length).toBeLessThanOrEqual(100);
    expect(usedAt(ledger, T0 + 3 * DAY_MS)).toBeGreaterThanOrEqual(59);
    expect(usedAt(ledger, T0 + 3 * DAY_MS)).toBeLessThanOrEqual(63);
  });
});

describe("block()", () => {
  it("takes nothing until the time that the provider names", () => {
    const ledger = block(start({ limit: 9 }), { nowMs: T0, untilMs: T0 + 5_000, random: 0 });

    expect([remainingAt(ledger, T0), usedAt(ledger, T0)]).toEqual([0, 0]);
    expect(take(ledger, "scheduled", T0 + 4_999).allowed).toBe(false);
    expect(take(ledger, "scheduled", T0 + 5_000).allowed).toBe(true);
  });

  it("is silenced for one window at most, whatever the provider names", () => {
    const ledger = block(start({ limit: 9, per: "hour" }), {
      nowMs: T0,
      untilMs: T0 + 900 * DAY_MS,
      random: 0,
    });

    expect(remainingAt(ledger, T0 + HOUR_MS)).toBe(9);
  });

  it("is silenced for one window at most after a clock is put back", () => {
    const ledger = block(start({ limit: 9, per: "hour" }), {
      nowMs: T0 + 900 * DAY_MS,
      untilMs: null,
      random: 0,
    });

    const { ledger: seen } = take(ledger, "scheduled", T0);

    expect(remainingAt(seen, T0 + HOUR_MS)).toBeGreaterThan(0);
  });
});

describe("usedAt()", () => {
  it("keeps what was spent when the limit changes", () => {
    const { ledger } = takeMany(start({ limit: 5 }), 5, { nowMs: T0, use: "scheduled" });

    const resumed = { ...start({ limit: 3 }), buckets: ledger.buckets };

    expect([resumed.limit, usedAt(resumed, T0), remainingAt(resumed, T0)]).toEqual([3, 5, 0]);
  });
});

function takeMany(
  first: Ledger,
  times: number,
  { nowMs, use }: { readonly nowMs: number; readonly use: Use },
): { readonly ledger: Ledger; readonly allowed: readonly boolean[] } {
  let ledger = first;
  const allowed = Array.from({ length: times }, () => {
    const taken = take(ledger, use, nowMs);
    ledger = taken.ledger;
    return taken.allowed;
  });
  return { ledger, allowed };
}

function start(terms: Pick<Budget, "limit"> & Partial<Budget>): Ledger {
  return startLedger(budgetOf(terms), 0);
}

function budgetOf(terms: Pick<Budget, "limit"> & Partial<Budget>): Budget {
  return { name: "studio", per: "day", scope: "endpoint", ...terms };
}

function sum(allowed: readonly boolean[]): number {
  return allowed.filter(Boolean).length;
}
