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
const IN_1971_MS = 365 * DAY_MS - T0;

/**
 * A line of a history: `poll ENDPOINT USE TIMES CRASH` (the crash is in the last request), `wait MS`, `refused ENDPOINT [MS]`,
 * `reload WITHOUT`, `clock MS` (a jump), `boot MS` (the machine restarts in order, and its clock then has this error), `save`, `crash`,
 * `stop`.
 */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: lineOf(
      "poll",
      fc.nat(ENDPOINTS.length - 1),
      fc.constantFrom("scheduled", "opportunistic"),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom("none", "none", "before-recording", "before-sending", "after-sending"),
    ),
  },
  {
    weight: 5,
    arbitrary: lineOf(
      "wait",
      fc.oneof(
        fc.integer({ min: 1, max: HOUR_MS }),
        fc.integer({ min: HOUR_MS, max: 2 * DAY_MS }),
        fc.constantFrom(HOUR_MS, DAY_MS, 31 * DAY_MS, HOUR_MS - 1, DAY_MS - 1, 20 * DAY_MS),
      ),
    ),
  },
  lineOf("refused", fc.nat(ENDPOINTS.length - 1), fc.option(fc.integer({ min: -HOUR_MS, max: 3 * DAY_MS }))),
  lineOf("reload", fc.nat(ENDPOINTS.length - 1)),
  lineOf("clock", fc.integer({ min: -20 * HOUR_MS, max: 20 * HOUR_MS })),
  fc.constantFrom("save", "crash", "stop"),
);

function lineOf(
  verb: string,
  ...words: readonly fc.Arbitrary<number | string | null>[]
): fc.Arbitrary<string> {
  return fc.tuple(...words).map((drawn) => [verb, ...drawn].join(" ").trimEnd());
}

describe("Budgets, through crashes, reloads, refusals and clock jumps", () => {
  it("never permit more requests than the limit, in any calendar or rolling window", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const life = new Life(...steps);
        for (const budget of BUDGETS) {
          expectWithin(budget, life.sent.get(budget.name) ?? []);
        }
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    {
      what: "let requests through again, however often the process died",
      lines: Array.from({ length: 10 }, () => [
        "poll 1 scheduled 20 after-sending",
        `wait ${DAY_MS + HOUR_MS}`,
      ]),
      sent: 10 * 12,
    },
    {
      what: "count what was spent before a boot in 1971, until the clock is right again and after that",
      lines: [0, IN_1971_MS, IN_1971_MS, 0].map((errorMs) => [
        `boot ${errorMs}`,
        "poll 1 scheduled 20 none",
        `wait ${HOUR_MS}`,
      ]),
      sent: 12,
    },
    {
      what: "count requests before a suspend as long as requests after it",
      lines: [
        ["poll 1 scheduled 6 none", `clock ${9 * HOUR_MS}`, "poll 1 scheduled 6 after-sending"],
        [`wait ${20 * HOUR_MS}`, "poll 1 scheduled 20 none"],
      ],
      sent: 12,
    },
  ])("$what", ({ lines, sent }) => {
    expect(new Life(...lines.flat()).sent.get("daily")).toHaveLength(sent);
  });
});

/** The processes of a monitor one after the other, their disk, and the wall clock, which may be wrong. */
class Life {
  /** For each budget, when each request was sent, in true time. */
  readonly sent = new Map<string, number[]>();
  #trueMs = T0;
  #wallErrorMs = 0;
  #stateFile = "";
  /** Its lines and their last draw; null if the next write begins a new file. */
  #journal: readonly string[] = [];
  #journalled: number | null = null;
  #local = this.#start(NOTHING_SPENT);

  constructor(...lines: readonly string[]) {
    for (const line of lines) {
      this.#live(line);
    }
  }

  #live(line: string): void {
    const [verb, first = "", use, times, crash = "none"] = line.split(" ");
    const asked = ENDPOINTS[Number(first)] ?? HOURLY;
    switch (verb) {
      case "wait":
        this.#trueMs += Number(first);
        return;
      case "poll":
        for (let left = Number(times); left > 0; left -= 1) {
          this.#request(asked, use === "scheduled" ? use : "opportunistic", left === 1 ? crash : "none");
        }
        return;
      case "refused": {
        const nowMs = this.#local.nowMs();
        const untilMs = use === undefined ? null : nowMs + Number(use);
        this.#local.budgets.backOff(asked, { nowMs, untilMs, random: 0.5 });
        return;
      }
      case "reload": {
        const others = ENDPOINTS.filter((other) => other !== asked);
        this.#local.budgets.reload(fleetOf(others, BUDGETS));
        this.#local.budgets.reload(FLEET);
        return;
      }
      case "clock":
        this.#wallErrorMs += Number(first);
        // As the daemon does after the next poll.
        this.#save();
        return;
      case "save":
        this.#save();
        return;
      case "boot":
      case "stop":
        this.#save();
        this.#journal = [];
        this.#wallErrorMs = verb === "boot" ? Number(first) : this.#wallErrorMs;
        this.#restart();
        return;
      default:
        this.#restart();
    }
  }

  #request(asked: Endpoint, use: Use, crash: string): void {
    if (
      this.#local.budgets.acquire(asked, use, this.#local.nowMs()).kind === "granted" &&
      crash !== "before-recording"
    ) {
      const line = JSON.stringify(this.#local.save(this.#journalled ?? 0));
      this.#journal = this.#journalled === null ? [line] : [...this.#journal, line];
      this.#journalled = this.#local.budgets.sequence();
      if (crash !== "before-sending") {
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
