import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Ledger, remainingAt, startLedger, take, type Use, usedAt } from "../../src/budgets/ledger.ts";
import type { Budget } from "../../src/core/model/fleet.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const T0 = Date.UTC(2026, 10, 20, 10, 37);

// Random histories with crashes and jumps of the clock are in ledger-histories.test.ts.

describe("take()", () => {
  it.each([
    { per: "hour", windowMs: HOUR_MS },
    { per: "day", windowMs: DAY_MS },
    { per: "month", windowMs: 31 * DAY_MS },
  ] as const)("gives a use of $per back after one window, or a twenty-fourth later", ({ per, windowMs }) => {
    const { ledger, taken } = takeMany(startLedger(budgetOf({ limit: 3, per }), 0), 4, "scheduled");

    expect([taken, usedAt(ledger, T0), remainingAt(ledger, T0)]).toEqual([3, 3, 0]);
    expect(usedAt(ledger, T0 + windowMs - 1)).toBe(3);
    expect(usedAt(ledger, T0 + windowMs * (25 / 24))).toBe(0);
  });

  it("keeps what the schedule asks of a window free from spare uses", () => {
    const spares = takeMany(startLedger(budgetOf({ limit: 100 }), 72), 100, "opportunistic");
    const polls = takeMany(spares.ledger, 100, "scheduled");

    // 72 requests a day are 75 in 25 hours, the longest time that the ledger counts.
    expect([spares.taken, polls.taken]).toEqual([25, 75]);
  });

  it("counts polls beyond the schedule against the spare uses", () => {
    const { ledger } = takeMany(startLedger(budgetOf({ limit: 100 }), 72), 90, "scheduled");

    expect(takeMany(ledger, 100, "opportunistic").taken).toBe(10);
  });

  it("never refuses a poll of a schedule that fits, whatever is reserved", () => {
    const anySpares = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 400, maxLength: 400 });
    fc.assert(
      fc.property(anySpares, (sparesPerRound) => {
        let ledger = startLedger(budgetOf({ limit: 160 }), 144);

        for (const [round, spares] of sparesPerRound.entries()) {
          const nowMs = T0 + round * 10 * 60_000;
          const polled = takeMany(ledger, 1, "scheduled", nowMs);
          expect(polled.taken).toBe(1);
          ledger = takeMany(polled.ledger, spares, "opportunistic", nowMs + 1).ledger;
        }
      }),
      { numRuns: 10 },
    );
  });

  it("stays small during days of polls every minute", () => {
    let ledger = startLedger(budgetOf({ limit: 1e9, per: "hour" }), 0);

    for (let nowMs = T0; nowMs < T0 + 3 * DAY_MS; nowMs += 60_000) {
      ledger = takeMany(ledger, 1, "scheduled", nowMs).ledger;
    }

    expect(ledger.buckets.length).toBeLessThanOrEqual(25);
    expect(usedAt(ledger, T0 + 3 * DAY_MS)).toBeGreaterThanOrEqual(59);
    expect(usedAt(ledger, T0 + 3 * DAY_MS)).toBeLessThanOrEqual(63);
  });
});

describe("usedAt()", () => {
  it("keeps what was spent when the limit changes", () => {
    const { ledger } = takeMany(startLedger(budgetOf({ limit: 5 }), 0), 5, "scheduled");

    const resumed = { ...startLedger(budgetOf({ limit: 3 }), 0), buckets: ledger.buckets };

    expect([resumed.limit, usedAt(resumed, T0), remainingAt(resumed, T0)]).toEqual([3, 5, 0]);
  });
});

/** Tries this number of times; `taken`: how many tries were allowed. */
function takeMany(
  first: Ledger,
  times: number,
  use: Use,
  nowMs = T0,
): { readonly ledger: Ledger; readonly taken: number } {
  let [ledger, taken] = [first, 0];
  for (let left = times; left > 0; left -= 1) {
    const next = take(ledger, use, nowMs);
    ledger = next ?? ledger;
    taken += next === null ? 0 : 1;
  }
  return { ledger, taken };
}

function budgetOf(terms: Pick<Budget, "limit"> & Partial<Budget>): Budget {
  return { name: "studio", per: "day", scope: "endpoint", ...terms };
}
