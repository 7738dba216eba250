import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  allowProbe,
  type BackOff,
  backOff,
  endProbe,
  NO_BACK_OFF,
  startProbe,
} from "../../src/budgets/back-off.ts";
import type { Budget } from "../../src/core/model/fleet.ts";
import { expectGolden } from "../support/golden.ts";

/** `TITLE: [PER; ]SECOND WHAT, … => until which second nothing is sent after each of these, by which delay, and the state of the probe`. */
const FILE = "test/fixtures/back-off.expected.txt";
const T0 = Date.UTC(2026, 10, 20, 10, 37);

it("a back-off lasts as long as test/fixtures/back-off.expected.txt says", () => {
  const rows = [...readFileSync(FILE, "utf8").matchAll(/^([^:]*): (?:(\w+); )?(.*) => /gm)];

  const told = rows.map(([start, , per = "day", steps = ""]) => {
    let state = NO_BACK_OFF;
    const states = steps.split(", ").map((step) => {
      state = after(state, step, per as Budget["per"]);
      return `${(state.untilMs - T0) / 1_000} by ${state.delayMs / 1_000} ${state.probe}`;
    });
    return `${start}${states.join(", ")}\n`;
  });

  expect(told.length).toBeGreaterThan(15);
  expectGolden(FILE, told.join(""));
});

function after(former: BackOff, step: string, per: Budget["per"]): BackOff {
  const [second, what, , until] = step.split(" ");
  const nowMs = T0 + Number(second) * 1_000;
  switch (what) {
    case "probe":
      return startProbe(former, nowMs);
    case "answered":
      return endProbe(former, nowMs);
    case "allowed":
      return allowProbe(former, nowMs);
    default: {
      const untilMs = until === undefined ? null : T0 + Number(until) * 1_000;
      return backOff(former, { nowMs, untilMs, random: 0 }, per);
    }
  }
}
