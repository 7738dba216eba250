import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Budgets } from "../../src/budgets/budgets.ts";
import { readSavedBudgets, savedBudgetsToJson } from "../../src/budgets/snapshot.ts";
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

describe("Budgets.acquire()", () => {
  it("gives each endpoint of a budget of scope endpoint its own", () => {
    const budgets = new Budgets(fleet);

    spend(budgets, base, 50);

    expect([takes(budgets, base), takes(budgets, mode)]).toEqual([false, true]);
  });

  it("lets all endpoints of a shared budget draw on one", () => {
    const budgets = new Budgets(fleet);

    spend(budgets, keyed, 2_000);

    expect(takes(budgets, keyedToo, T0)).toBe(false);
  });

  it("keeps the polls of all endpoints that share a budget free from spare uses", () => {
    const budgets = new Budgets(fleet);

    const spares = spare(budgets, keyed, 2_000);

    // Two endpoints × 24 a day × 31 days and a twenty-fourth of them, the most that the ledger counts.
    expect(spares).toBe(2_000 - 1_550);
  });

  it("never refuses an endpoint without a budget", () => {
    expect(spare(new Budgets(fleet), free, 10_000)).toBe(10_000);
  });

  it("lets two endpoints behind one URL draw on one budget of scope endpoint", () => {
    const twin = endpointOf({ protocol: "lockup", url: base.url, budget: "studio", schedule: HOURLY });
    const budgets = new Budgets(fleetOf([base, twin], [studio]));

    spend(budgets, base, 30);
    spend(budgets, twin, 19);

    expect(budgets.report(T0)).toMatchObject([{ endpoint: base, used: 49, remaining: 1 }]);
    expect([takes(budgets, base), takes(budgets, twin)]).toEqual([true, false]);
  });

  it.each([
    {
      case: "an empty budget",
      live: (budgets: Budgets) => spend(budgets, base, 50),
      asked: base,
      use: "scheduled" as const,
      reason: "budget",
      detail: "not sent: budget studio: 50 of 50 a day used, next at 2026-11-21 11:00 UTC",
    },
    {
      case: "a month's budget that has only what the schedule needs",
      live: (budgets: Budgets) => spare(budgets, keyed, 2_000),
      asked: keyed,
      use: "opportunistic" as const,
      reason: "budget",
      detail:
        "not sent: budget gateway: 450 of 2,000 a month used, the rest is reserved for scheduled polls, next at 2026-12-21 18:00 UTC",
    },
    {
      case: "a provider that named a time",
      live: (budgets: Budgets) => refuse(budgets, base),
      asked: base,
      use: "scheduled" as const,
      reason: "rate_limited",
      detail: "rate-limited by provider at 10:37 UTC, next attempt 11:37 UTC",
    },
    {
      case: "a provider without a budget",
      live: (budgets: Budgets) => refuse(budgets, free),
      asked: free,
      use: "scheduled" as const,
      reason: "rate_limited",
      detail: "rate-limited by provider at 10:37 UTC, next attempt 11:37 UTC",
    },
  ])("says why it refuses, and until when: $case", ({ live, asked, use, reason, detail }) => {
    const budgets = new Budgets(fleet);
    live(budgets);

    expect(budgets.acquire(asked, use, T0)).toEqual({ kind: "refused", reason, detail });
  });

  it("refuses an endpoint that a reload took away", () => {
    const budgets = new Budgets(fleet);

    budgets.reload(fleetOf([free], []));

    expect(takes(budgets, base, T0)).toBe(false);
  });
});

describe("Budgets.backOff()", () => {
  it.each([
    { case: "a budget of its own", refused: base, others: [mode, keyed, free] },
    { case: "no budget", refused: free, others: [base, keyed] },
  ])("silences an endpoint with $case alone", ({ refused, others }) => {
    const budgets = new Budgets(fleet);

    budgets.backOff(refused, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });

    expect(takes(budgets, refused, T0 + HOUR_MS - 1)).toBe(false);
    expect(takes(budgets, refused, T0 + HOUR_MS)).toBe(true);
    expect(others.map((other) => takes(budgets, other, T0))).toEqual(others.map(() => true));
  });

  it("silences all that share a budget", () => {
    const budgets = new Budgets(fleet);

    budgets.backOff(keyed, { nowMs: T0, untilMs: null, random: 0 });

    expect(takes(budgets, keyedToo, T0 + 29_000)).toBe(false);
    expect(takes(budgets, keyedToo, T0 + 30_000)).toBe(true);
  });

  it("lets no provider silence an endpoint without a budget for more than a day", () => {
    const budgets = new Budgets(fleet);

    budgets.backOff(free, { nowMs: T0, untilMs: T0 + 9_000 * HOUR_MS, random: 0 });

    expect(takes(budgets, free, T0 + 24 * HOUR_MS)).toBe(true);
  });
});

describe("Budgets.report()", () => {
  it("has one line for each endpoint of its own budget and one for a shared budget", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, mode, 3);
    spend(budgets, keyed, 7);
    spare(budgets, keyedToo, 1);

    expect(budgets.report(T0)).toEqual([
      { budget: studio, endpoint: base, limit: 50, used: 0, remaining: 50 },
      { budget: studio, endpoint: mode, limit: 50, used: 3, remaining: 47 },
      { budget: gateway, endpoint: null, limit: 2_000, used: 8, remaining: 1_992 },
    ]);
  });

  it("has none for a budget that nobody uses", () => {
    expect(new Budgets(fleetOf([free], [studio, gateway])).report(T0)).toEqual([]);
  });

  it("has nothing remaining while the provider refuses", () => {
    const budgets = new Budgets(fleetOf([keyed], [gateway]));

    budgets.backOff(keyed, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });

    expect(budgets.report(T0)).toMatchObject([{ used: 0, remaining: 0 }]);
  });
});

describe("Budgets.reload()", () => {
  it("keeps what was spent under a limit that changes", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 20);

    budgets.reload(fleetOf([base], [{ ...studio, limit: 30 }]));

    expect(budgets.report(T0)).toMatchObject([{ limit: 30, used: 20, remaining: 10 }]);
  });

  it("remembers what was spent by an endpoint that goes and comes back", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 20);

    budgets.reload(fleetOf([free], []));
    budgets.reload(fleet);

    expect(budgets.report(T0)).toMatchObject([{ used: 20 }, { used: 0 }, { used: 0 }]);
  });
});

describe("Budgets by what is sent", () => {
  const renamed = { ...studio, name: "other" };
  const renamedShared = { ...gateway, name: "another" };

  it("carries a renamed budget over a reload and a restart", () => {
    const before = new Budgets(fleetOf([base, keyed], [studio, gateway]));
    spend(before, base, 20);
    spend(before, keyed, 30);
    const next = fleetOf(
      [
        { ...base, budget: "other" },
        { ...keyed, budget: "another" },
      ],
      [renamed, renamedShared],
    );

    const restarted = restart(before, T0, next);
    before.reload(next);

    const used = [before, restarted].map((budgets) => budgets.report(T0).map((report) => report.used));
    expect(used).toEqual([
      [20, 30],
      [20, 30],
    ]);
  });

  it.each([
    { one: "http://127.0.0.1:9/x", other: "http://localhost:9/x" },
    { one: "https://indexer.example/x", other: "https://indexer.example/x#second" },
  ])("takes $one and $other for one", ({ one, other }) => {
    const twin = { ...mode, url: other };
    const budgets = new Budgets(fleetOf([{ ...base, url: one }, twin], [studio]));

    spend(budgets, twin, 50);

    expect(budgets.report(T0)).toMatchObject([{ used: 50, remaining: 0 }]);
  });

  it("reads what 0.1.0 wrote, also for a budget that was renamed since", () => {
    const digest = createHash("sha256").update(base.url).digest("hex").slice(0, 32);
    const backOff = { refusedAtMs: 0, untilMs: 0, delayMs: 0 };
    const account = { buckets: [[T0, 7, 2]], backOff };
    const saved = readSavedBudgets({ accounts: { [`studio ${digest}`]: account }, backOffs: {} });

    const budgets = [
      new Budgets(fleetOf([base], [studio])),
      new Budgets(fleetOf([{ ...base, budget: "other" }], [renamed])),
    ];
    for (const one of budgets) {
      one.restore(saved);
    }

    expect(budgets.map((one) => one.report(T0))).toMatchObject([[{ used: 9 }], [{ used: 9 }]]);
  });
});

describe("Budgets.save() and restore()", () => {
  it("survive the state file", () => {
    const before = new Budgets(fleet);
    spend(before, base, 20);
    spare(before, keyed, 5);
    before.backOff(mode, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });
    before.backOff(free, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });

    const after = restart(before, T0);

    expect(after.report(T0)).toEqual(before.report(T0));
    expect(takes(after, free)).toBe(false);
  });

  it("keep what an endpoint that is skipped today has spent", () => {
    const before = new Budgets(fleet);
    spend(before, base, 20);

    const skipped = restart(before, T0, fleetOf([free], [studio]));
    const after = restart(skipped, T0);

    expect(after.report(T0)).toMatchObject([{ used: 20 }, { used: 0 }, { used: 0 }]);
  });

  it("let go of what no window counts any more", () => {
    const budgets = new Budgets(fleet);
    spend(budgets, base, 20);
    budgets.backOff(free, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });

    const { accounts, backOffs } = budgets.save(T0 + 40 * 24 * HOUR_MS);

    expect([accounts.size, backOffs.size]).toEqual([0, 0]);
  });
});

describe("Budgets.backOff() that is repeated", () => {
  const MINUTE_MS = 60_000;
  const absurd = { nowMs: T0, untilMs: T0 + 60_000_000_000, random: 0 };

  it("silences a shared budget for an hour at most, and then lets one request go first", () => {
    const budgets = new Budgets(fleetOf([keyed, keyedToo], [gateway]));
    budgets.backOff(keyed, absurd);
    const afterMs = T0 + HOUR_MS;

    const before = takes(budgets, keyedToo, afterMs - 1);
    const [probe, other] = [takes(budgets, keyedToo, afterMs), takes(budgets, keyed, afterMs)];
    budgets.accept(keyedToo, afterMs + 300);

    expect([before, probe, other, takes(budgets, keyed, afterMs + 300)]).toEqual([false, true, false, true]);
  });

  it("may be tried once after a restart or a reload", () => {
    const before = new Budgets(fleetOf([keyed, free], [gateway]));
    before.backOff(keyed, absurd);
    before.backOff(free, absurd);

    const after = restart(before, T0 + 5 * MINUTE_MS, fleetOf([keyed, free], [gateway]));
    after.allowProbes(T0 + 5 * MINUTE_MS);

    const tries = [keyed, keyed, free, free].map((endpoint) => takes(after, endpoint, T0 + 5 * MINUTE_MS));
    expect(tries).toEqual([true, false, true, false]);
  });

  it("is reported, with the time that the provider named", () => {
    const budgets = new Budgets(fleetOf([keyed], [gateway]));
    budgets.backOff(keyed, absurd);

    expect(budgets.report(T0)).toMatchObject([
      {
        backOff:
          "rate-limited by provider at 10:37 UTC, next attempt 11:37 UTC (provider named 2028-10-14 21:17 UTC)",
      },
    ]);
  });
});

describe("readSavedBudgets()", () => {
  it.each([
    { case: "no object", json: [] },
    {
      case: "a negative count",
      json: { accounts: { a: { buckets: [[1, -1, 0]], backOff: { untilMs: 0, delayMs: 0 } } }, backOffs: {} },
    },
    { case: "a missing part", json: { accounts: {} } },
  ])("throws on $case", ({ json }) => {
    expect(() => readSavedBudgets(json)).toThrow();
  });
});

function refuse(budgets: Budgets, endpoint: Endpoint): void {
  budgets.backOff(endpoint, { nowMs: T0, untilMs: T0 + HOUR_MS, random: 0 });
}

function spend(budgets: Budgets, endpoint: Endpoint, times: number): number {
  return Array.from({ length: times }, () => takes(budgets, endpoint, T0)).filter(Boolean).length;
}

function spare(budgets: Budgets, endpoint: Endpoint, times: number): number {
  return Array.from({ length: times }, () => budgets.acquire(endpoint, "opportunistic", T0)).filter(
    ({ kind }) => kind === "granted",
  ).length;
}

function takes(budgets: Budgets, endpoint: Endpoint, nowMs = T0): boolean {
  return budgets.acquire(endpoint, "scheduled", nowMs).kind === "granted";
}

/** Another process that reads what the first has written. */
function restart(before: Budgets, nowMs: number, next = fleet): Budgets {
  const text = JSON.stringify(savedBudgetsToJson(before.save(nowMs)));
  const after = new Budgets(next);
  after.restore(readSavedBudgets(JSON.parse(text)));
  return after;
}
