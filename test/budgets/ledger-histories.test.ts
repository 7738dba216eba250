import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocalBudgets } from "../../src/budgets/gate.ts";
import type { Use } from "../../src/budgets/ledger.ts";
import { mergeSavedBudgets, NOTHING_SPENT, SavedBudgets } from "../../src/budgets/saved-budgets.ts";
import type { Budget, Endpoint } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const T0 = Date.UTC(2026, 0, 31, 22, 37);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const WINDOW_MS = { hour: HOUR_MS, day: DAY_MS, month: 31 * DAY_MS };
const BUDGETS: readonly Budget[] = [
  { name: "hourly", limit: 5, per: "hour", scope: "endpoint" },
  { name: "daily", limit: 12, per: "day", scope: "endpoint" },
  { name: "monthly", limit: 80, per: "month", scope: "shared" },
];
const HOURLY = endpointOf({ chain: "base", budget: "hourly", schedule: "0 0 * * * *" });
const ENDPOINTS = [
  HOURLY,
  endpointOf({ chain: "mode", budget: "daily", schedule: "0 0 */6 * * *" }),
  endpointOf({ chain: "linea", budget: "monthly", schedule: "0 0 0 * * *" }),
  endpointOf({ chain: "scroll", budget: "monthly", schedule: "0 0 0 * * *" }),
];
const FLEET = fleetOf(ENDPOINTS, BUDGETS);

type Crash = "none" | "before recording" | "before sending" | "after sending";

type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | {
      readonly kind: "poll";
      readonly endpoint: number;
      readonly use: Use;
      readonly times: number;
      /** In the last of them. */
      readonly crash: Crash;
    }
  | { readonly kind: "refused"; readonly endpoint: number; readonly untilMs: number | null }
  | { readonly kind: "reload"; readonly without: number }
  | { readonly kind: "clock jump"; readonly byMs: number }
  /** The machine is restarted in order, and its clock then has this error. */
  | { readonly kind: "boot"; readonly wallErrorMs: number }
  | { readonly kind: "save" | "crash" | "stop" };

const endpoint = fc.nat(ENDPOINTS.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("poll" as const),
      endpoint,
      use: fc.constantFrom<Use[]>("scheduled", "opportunistic"),
      times: fc.integer({ min: 1, max: 20 }),
      crash: fc.constantFrom<Crash[]>("none", "none", "before recording", "before sending", "after sending"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.oneof(
        fc.integer({ min: 1, max: HOUR_MS }),
        fc.integer({ min: HOUR_MS, max: 2 * DAY_MS }),
        fc.constantFrom(HOUR_MS, DAY_MS, 31 * DAY_MS, HOUR_MS - 1, DAY_MS - 1, 20 * DAY_MS),
      ),
    }),
  },
  fc.record({
    kind: fc.constant("refused" as const),
    endpoint,
    untilMs: fc.option(fc.integer({ min: -HOUR_MS, max: 3 * DAY_MS })),
  }),
  fc.record({ kind: fc.constant("reload" as const), without: endpoint }),
  fc.record({
    kind: fc.constant("clock jump" as const),
    byMs: fc.integer({ min: -20 * HOUR_MS, max: 20 * HOUR_MS }),
  }),
  fc.record({ kind: fc.constantFrom("save" as const, "crash" as const, "stop" as const) }),
);

describe("Budgets, through crashes, reloads, refusals and clock jumps", () => {
  it("never let more through than the limit, in any calendar or rolling window", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const life = new Life();
        for (const one of steps) {
          life.live(one);
        }
        for (const budget of BUDGETS) {
          expectWithin(budget, life.sent.get(budget.name) ?? []);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("let requests through again, however often the process died", () => {
    const life = new Life();
    for (let round = 0; round < 10; round += 1) {
      life.live({ kind: "poll", endpoint: 1, use: "scheduled", times: 20, crash: "after sending" });
      life.live({ kind: "wait", ms: DAY_MS + HOUR_MS });
    }

    expect(life.sent.get("daily")).toHaveLength(10 * 12);
  });

  it("count what was spent before a boot in 1971, until the clock is right again and after that", () => {
    const life = new Life();
    const in1971 = 365 * DAY_MS - T0;
    for (const wallErrorMs of [0, in1971, in1971, 0]) {
      life.live({ kind: "boot", wallErrorMs });
      life.live({ kind: "poll", endpoint: 1, use: "scheduled", times: 20, crash: "none" });
      life.live({ kind: "wait", ms: HOUR_MS });
    }

    expect(life.sent.get("daily")).toHaveLength(12);
  });

  it("count requests before a suspend as long as requests after it", () => {
    const life = new Life();
    life.live({ kind: "poll", endpoint: 1, use: "scheduled", times: 6, crash: "none" });
    life.live({ kind: "clock jump", byMs: 9 * HOUR_MS });
    life.live({ kind: "poll", endpoint: 1, use: "scheduled", times: 6, crash: "after sending" });
    life.live({ kind: "wait", ms: 20 * HOUR_MS });
    life.live({ kind: "poll", endpoint: 1, use: "scheduled", times: 20, crash: "none" });

    expect(life.sent.get("daily")).toHaveLength(12);
  });
});

/** The processes of a monitor one after the other, their disk, and the clock on the wall, which may be wrong. */
class Life {
  /** By the budget: when each request was sent, in true time. */
  readonly sent = new Map<string, number[]>();
  #trueMs = T0;
  #wallErrorMs = 0;
  #stateFile = "";
  /** Its lines, and up to which draw they go; null where it is written anew next time. */
  #journal: readonly string[] = [];
  #journalled: number | null = null;
  #local = this.#start(NOTHING_SPENT);

  live(step: Step): void {
    switch (step.kind) {
      case "wait":
        this.#trueMs += step.ms;
        return;
      case "poll":
        this.#poll(step);
        return;
      case "refused":
        this.#refuse(step);
        return;
      case "reload":
        this.#local.budgets.reload(
          fleetOf(
            ENDPOINTS.filter((_, index) => index !== step.without),
            BUDGETS,
          ),
        );
        this.#local.budgets.reload(FLEET);
        return;
      case "clock jump":
        this.#wallErrorMs += step.byMs;
        // As the daemon does after the next poll.
        this.#save();
        return;
      case "boot":
        this.#save();
        this.#journal = [];
        this.#wallErrorMs = step.wallErrorMs;
        this.#restart();
        return;
      case "save":
        this.#save();
        return;
      case "crash":
        this.#restart();
        return;
      case "stop":
        this.#save();
        this.#journal = [];
        this.#restart();
    }
  }

  #refuse({ endpoint: index, untilMs }: Extract<Step, { kind: "refused" }>): void {
    const nowMs = this.#local.nowMs();
    const refusal = { nowMs, untilMs: untilMs === null ? null : nowMs + untilMs, random: 0.5 };
    this.#local.budgets.backOff(ENDPOINTS[index] ?? HOURLY, refusal);
  }

  #poll({ endpoint: index, use, times, crash }: Extract<Step, { kind: "poll" }>): void {
    const asked = ENDPOINTS[index] ?? HOURLY;
    for (let left = times; left > 1; left -= 1) {
      this.#request(asked, use, "none");
    }
    this.#request(asked, use, crash);
  }

  #request(asked: Endpoint, use: Use, crash: Crash): void {
    if (
      this.#local.budgets.acquire(asked, use, this.#local.nowMs()).kind === "granted" &&
      crash !== "before recording"
    ) {
      const line = JSON.stringify(this.#local.save(this.#journalled ?? 0));
      this.#journal = this.#journalled === null ? [line] : [...this.#journal, line];
      this.#journalled = this.#local.budgets.sequence();
      if (crash !== "before sending") {
        const name = asked.budget ?? "";
        this.sent.set(name, [...(this.sent.get(name) ?? []), this.#trueMs]);
      }
    }
    if (crash !== "none") {
      this.#restart();
    }
  }

  #save(): void {
    const sequence = this.#local.budgets.sequence();
    this.#stateFile = JSON.stringify(this.#local.save());
    this.#local.budgets.forgetChanges(sequence);
    this.#journalled = null;
  }

  #restart(): void {
    this.#journalled = null;
    const found = [this.#stateFile, ...this.#journal].filter((text) => text !== "");
    const saved = found.map((text) => SavedBudgets.parse(JSON.parse(text)));
    this.#local = this.#start(saved.reduce(mergeSavedBudgets, NOTHING_SPENT));
  }

  #start(saved: SavedBudgets): LocalBudgets {
    const world = { nowMs: () => this.#trueMs + this.#wallErrorMs, monotonicMs: () => this.#trueMs };
    return new LocalBudgets(FLEET, saved, world);
  }
}

function expectWithin({ per, limit }: Budget, sent: readonly number[]): void {
  const rolling = sent.map((atMs) => sent.filter((ms) => ms > atMs - WINDOW_MS[per] && ms <= atMs).length);
  const calendar = sent.map(
    (atMs) => sent.filter((ms) => windowName(ms, per) === windowName(atMs, per)).length,
  );
  expect(Math.max(0, ...rolling, ...calendar)).toBeLessThanOrEqual(limit);
}

/** The calendar window in UTC: `2026-01-31T22` for an hour. */
function windowName(timeMs: number, per: Budget["per"]): string {
  return new Date(timeMs).toISOString().slice(0, { hour: 13, day: 10, month: 7 }[per]);
}
