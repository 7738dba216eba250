import { describe, expect, it } from "vitest";
import { Budgets } from "../../src/budgets/budgets.ts";
import type { LedgerSnapshot } from "../../src/budgets/ledger.ts";
import type { Budget, Endpoint } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37);
const HOUR_MS = 3_600_000;
const HOURLY = "0 0 * * * *";

const studio: Budget = { name: "studio", limit: 50, per: "day", scope: "endpoint" };
const gateway: Budget = { name: "gateway", limit: 2_000, per: "month", scope: "shared" };
const base = endpointOf({ tier: "testing", chain: "base", budget: "studio", schedule: HOURLY });
const keyed = endpointOf({ chain: "base", budget: "gateway", schedule: HOURLY });
const free = endpointOf({ variant: "multichain", chain: null });
const fleet = fleetOf([base, keyed, free], [studio, gateway]);

describe("Budgets.saveDrawn()", () => {
  it("has what was drawn on since the last checkpoint that is on disk", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 1);
    spend(budgets, keyed, 2);

    const onWritten = budgets.checkpoint();
    spend(budgets, keyed, 1);
    const before = [...budgets.saveDrawn(T0, null).accounts.values()].map(pollsOf);
    onWritten();
    const after = [...budgets.saveDrawn(T0, null).accounts.values()].map(pollsOf);

    expect([before, after]).toEqual([[1, 3], [3]]);
  });

  it("has what was drawn on after a sequence number", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 1);
    const sequence = budgets.sequence();
    spend(budgets, keyed, 2);

    const drawn = [...budgets.saveDrawn(T0, sequence).accounts.values()].map(pollsOf);

    expect(drawn).toEqual([2]);
  });

  it("has what a provider refused, of endpoints with and without a budget, and only at the URL that it refused", () => {
    const budgets = new Budgets(fleet);
    const sequence = budgets.sequence();

    for (const endpoint of [keyed, free]) {
      budgets.backOff(endpoint, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });
    }
    const { accounts, backOffs } = budgets.saveDrawn(T0, sequence);

    const untils = [...accounts.values()].map(({ backOff }) => backOff.untilMs);
    const elsewhere = { ...free, url: "https://elsewhere.test/" };
    expect(budgets.acquire(free, "scheduled", T0).kind).toBe("refused");
    expect(budgets.acquire(elsewhere, "scheduled", T0).kind).toBe("granted");
    expect([untils, [...backOffs.keys()]]).toEqual([
      [T0 + HOUR_MS],
      [expect.stringMatching(/^[0-9a-f]{32}$/)],
    ]);
  });
});

function pollsOf({ buckets }: LedgerSnapshot): number {
  return buckets.reduce((total, { scheduled }) => total + scheduled, 0);
}

function spend(budgets: Budgets, endpoint: Endpoint, times: number): void {
  for (let request = 0; request < times; request += 1) {
    budgets.acquire(endpoint, "scheduled", T0);
  }
}
