import { describe, expect, it } from "vitest";
import { Budgets } from "../../src/budgets/budgets.ts";
import { SavedBudgets } from "../../src/budgets/saved-budgets.ts";
import type { Budget, Endpoint } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const T0 = Date.UTC(2026, 10, 20, 10, 37);
const HOUR_MS = 3_600_000;
const HOURLY = "0 0 * * * *";

const studio: Budget = { name: "studio", limit: 50, per: "day", scope: "endpoint" };
const gateway: Budget = { name: "gateway", limit: 2_000, per: "month", scope: "shared" };
const base = endpointOf({ tier: "testing", chain: "base", budget: "studio", schedule: HOURLY });
const mode = endpointOf({ tier: "testing", chain: "mode", budget: "studio", schedule: HOURLY });
const keyed = endpointOf({ chain: "base", budget: "gateway", schedule: HOURLY });
const keyedToo = endpointOf({ chain: "mode", budget: "gateway", schedule: HOURLY });
const free = endpointOf({ variant: "multichain", chain: null });
const fleet = fleetOf([base, mode, keyed, keyedToo, free], [studio, gateway]);

// test/fixtures/daemon-stories/budgets.txt shows what users and providers see of budgets; ledger-histories.test.ts plays random histories.

describe("Budgets.acquire()", () => {
  it("keeps the polls of all endpoints that share a budget free from other uses", () => {
    const budgets = new Budgets(fleet);

    const spares = spend(budgets, keyed, 2_000, "opportunistic");

    // Two endpoints × 24 requests a day × 31 days and one hour, the longest time that the ledger counts.
    expect(spares).toBe(2_000 - 1_550);
    expect(budgets.acquire(keyed, "opportunistic", T0)).toEqual({
      kind: "refused",
      reason: "budget",
      detail:
        "not sent: budget gateway: 450 of 2,000 a month used, the rest is reserved for scheduled polls, next at 2026-12-21 18:00 UTC",
    });
  });

  it("refuses a request of a removed endpoint whose poll is still running", () => {
    const budgets = new Budgets(fleet);

    budgets.reload(fleetOf([free], []));

    expect(takes(budgets, base)).toBe(false);
  });
});

describe("Budgets.countSent()", () => {
  it("counts up to the limit of the account, and does not count requests of other accounts or without a budget", () => {
    const budgets = new Budgets(fleet);

    for (const account of [base, free].flatMap((endpoint) => budgets.accountOf(endpoint) ?? [])) {
      budgets.countSent(account, Number.POSITIVE_INFINITY, T0);
    }

    expect([base, mode, keyed, free].map((endpoint) => takes(budgets, endpoint))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });
});

describe("Budgets.backOff()", () => {
  it("may be probed once after a restart or a reload", () => {
    const before = new Budgets(fleet);
    for (const endpoint of [keyed, free]) {
      before.backOff(endpoint, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });
    }

    const after = restart(before);
    after.shortenBackOffs(T0 + 300_000);

    const tries = [keyed, free].map((endpoint) => takes(after, endpoint, T0 + 300_000));
    expect(tries).toEqual([true, true]);
  });
});

describe("an account", () => {
  it("is the same for two endpoints behind one URL, whatever its fragment", () => {
    const url = "https://indexer.example/x";
    const twin = { ...mode, url: `${url}#second` };
    const budgets = new Budgets(fleetOf([{ ...base, url }, twin], [studio]));

    spend(budgets, twin, 50);

    expect(budgets.report(T0)).toMatchObject([{ used: 50, remaining: 0 }]);
  });

  it("is kept while its endpoint is skipped or removed, also under a new name", () => {
    const renamed = fleetOf([{ ...base, budget: "other" }], [{ ...studio, name: "other" }]);
    const budgets = new Budgets(fleet);
    spend(budgets, base, 20);
    const skipped = restart(budgets, fleetOf([free], [studio]));

    const restored = [restart(budgets), restart(skipped), restart(skipped, renamed)];

    expect(restored.map((one) => one.report(T0)[0]?.used)).toEqual([20, 20, 20]);
  });

  it("is forgotten once no window counts its requests", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 20);
    budgets.backOff(free, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });

    const { accounts } = budgets.save(T0 + 40 * 24 * HOUR_MS);

    expect(accounts).toEqual({});
  });
});

describe("Budgets.save()", () => {
  it("lists the draws and refusals since a draw, except those already saved", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 1);
    const sequence = budgets.sequence();
    spend(budgets, keyed, 3);
    budgets.backOff(free, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });
    const changed = (after: number) => {
      const { accounts } = budgets.save(T0, after);
      return Object.values(accounts).map(({ buckets }) => buckets[0]?.[1]);
    };

    const before = [changed(sequence), changed(0)];
    budgets.forgetChanges(sequence);

    expect(before).toEqual([
      [3, undefined],
      [1, 3, undefined],
    ]);
    expect(changed(0)).toEqual([3, undefined]);
  });
});

function spend(
  budgets: Budgets,
  endpoint: Endpoint,
  times: number,
  use: "scheduled" | "opportunistic" = "scheduled",
): number {
  return Array.from({ length: times }, () => budgets.acquire(endpoint, use, T0)).filter(
    ({ kind }) => kind === "granted",
  ).length;
}

function takes(budgets: Budgets, endpoint: Endpoint, nowMs = T0): boolean {
  return budgets.acquire(endpoint, "scheduled", nowMs).kind === "granted";
}

/** Another process that reads what the first has written. */
function restart(before: Budgets, next = fleet): Budgets {
  const text = JSON.stringify(before.save(T0));
  const after = new Budgets(next);
  after.restore(SavedBudgets.parse(JSON.parse(text)));
  return after;
}
