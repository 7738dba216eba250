import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import type { Status } from "../../../src/core/model/report.ts";
import {
  CERTAIN_WEIGHT,
  debounce,
  NORMAL_WEIGHT,
  type SettledStatus,
  statusOfFailure,
  WEAK_WEIGHT,
} from "../../../src/core/source/settled-status.ts";

function settled(...opinions: readonly (readonly [Status, number])[]): readonly Status[] {
  const said: Status[] = [];
  let verdict: SettledStatus | null = null;
  for (const [status, weight] of opinions) {
    verdict = debounce(verdict, { status, weight });
    said.push(verdict.status);
  }
  return said;
}

describe("settle()", () => {
  it("believes the first opinion", () => {
    expect(settled(["unreachable", WEAK_WEIGHT])).toEqual(["unreachable"]);
  });

  it.each([
    { case: "two normal ones", weights: [NORMAL_WEIGHT, NORMAL_WEIGHT], flips: 2 },
    { case: "three weak ones", weights: [WEAK_WEIGHT, WEAK_WEIGHT, WEAK_WEIGHT], flips: 3 },
    { case: "one that is certain", weights: [CERTAIN_WEIGHT], flips: 1 },
    { case: "a weak, a normal and any other", weights: [WEAK_WEIGHT, NORMAL_WEIGHT, WEAK_WEIGHT], flips: 3 },
  ])("flips after $case", ({ weights, flips }) => {
    const said = settled(["ok", NORMAL_WEIGHT], ...weights.map((weight) => ["unreachable", weight] as const));

    expect(said.indexOf("unreachable")).toBe(flips);
  });

  it("forgets dissent when one poll agrees again", () => {
    const said = settled(
      ["ok", NORMAL_WEIGHT],
      ["stalled", NORMAL_WEIGHT],
      ["ok", NORMAL_WEIGHT],
      ["stalled", NORMAL_WEIGHT],
    );

    expect(said).toEqual(["ok", "ok", "ok", "ok"]);
  });

  it("takes the latest opinion when those that disagree differ among themselves", () => {
    expect(
      settled(["ok", NORMAL_WEIGHT], ["unreachable", NORMAL_WEIGHT], ["throttled", NORMAL_WEIGHT]),
    ).toEqual(["ok", "ok", "throttled"]);
  });
});

describe("statusOfFailure()", () => {
  const expected: Readonly<Record<string, Status>> = {
    unauthorized: "rejected",
    payment_required: "rejected",
    rate_limited: "throttled",
    budget: "throttled",
    not_found: "not_found",
    indexing_error: "failed",
    implausible: "diverged",
  };

  it.each(FAILURE_REASONS)("follows the contract for %s", (reason) => {
    expect(statusOfFailure(reason)).toBe(expected[reason] ?? "unreachable");
  });
});
