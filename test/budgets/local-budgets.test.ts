import { describe, expect, it } from "vitest";
import { LocalBudgets } from "../../src/budgets/gate.ts";
import { NOTHING_SPENT } from "../../src/budgets/saved-budgets.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const START_MS = Date.UTC(2026, 11, 1);
const MINUTE_MS = 60_000;

describe("LocalBudgets.aheadMs()", () => {
  it.each([
    { case: "both clocks agree", jumpMs: 0, ahead: 0 },
    { case: "they drift", jumpMs: 900, ahead: 0 },
    { case: "the wall clock was put back", jumpMs: -60 * MINUTE_MS, ahead: 0 },
    { case: "it was put forward by some minutes", jumpMs: 3 * MINUTE_MS, ahead: 10 * MINUTE_MS },
    { case: "it was put forward by more", jumpMs: 11 * MINUTE_MS, ahead: 20 * MINUTE_MS },
  ])("is $ahead ms where $case, and what is saved is later by that", ({ jumpMs, ahead }) => {
    const clocks = { wallMs: START_MS, monotonicMs: 0 };
    const world = { nowMs: () => clocks.wallMs, monotonicMs: () => clocks.monotonicMs };
    const local = new LocalBudgets(fleetOf([endpointOf()]), NOTHING_SPENT, world);

    clocks.monotonicMs += MINUTE_MS;
    clocks.wallMs += MINUTE_MS + jumpMs;

    expect(local.aheadMs()).toBe(ahead);
    expect(local.nowMs()).toBe(START_MS + MINUTE_MS);
    expect(local.save().atMs).toBe(START_MS + MINUTE_MS + ahead);
  });
});
