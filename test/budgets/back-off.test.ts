import { expect, it } from "vitest";
import { type BackOff, backOff, NO_BACK_OFF, shortened } from "../../src/budgets/back-off.ts";
import { expectGolden, readWithoutNote } from "../support/golden.ts";

const FILE = "test/fixtures/back-off.expected.txt";
const T0 = Date.UTC(2026, 10, 20, 10, 37);

it("a back-off lasts as long as test/fixtures/back-off.expected.txt says", () => {
  const rows = [...readWithoutNote(FILE).matchAll(/^([^:]*): (.*) => /gm)];

  const told = rows.map(([start, , steps = ""]) => {
    let state = NO_BACK_OFF;
    const states = steps.split(", ").map((step) => {
      state = after(state, step);
      const until = (state.untilMs - T0) / 1_000;
      const lasts = Math.max(0, until - Number(step.split(" ")[0]));
      return `${Number(lasts.toFixed(3))} s, until ${until}`;
    });
    return `${start}${states.join("; ")}\n`;
  });

  expect(told.length).toBeGreaterThan(8);
  expectGolden(FILE, told.join(""));
});

function after(former: BackOff, step: string): BackOff {
  const [second, what, , until] = step.split(" ");
  const nowMs = T0 + Number(second) * 1_000;
  const untilMs = until === undefined ? null : T0 + Number(until) * 1_000;
  return what === "shortened" ? shortened(former, nowMs) : backOff(former, { nowMs, untilMs, random: 0 });
}
