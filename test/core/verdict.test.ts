import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../src/core/observation.ts";
import type { Status } from "../../src/core/report.ts";
import { CERTAIN, NORMAL, settle, statusOfFailure, type Verdict, WEAK } from "../../src/core/verdict.ts";

function settled(...opinions: readonly (readonly [Status, number])[]): readonly Status[] {
  const said: Status[] = [];
  let verdict: Verdict | null = null;
  for (const [status, weight] of opinions) {
    verdict = settle(verdict, { status, weight });
    said.push(verdict.status);
  }
  return said;
}

describe("settle()", () => {
  it("believes the first opinion", () => {
    expect(settled(["unreachable", WEAK])).toEqual(["unreachable"]);
  });

  it.each([
    { case: "two normal ones", weights: [NORMAL, NORMAL], flips: 2 },
    { case: "three weak ones", weights: [WEAK, WEAK, WEAK], flips: 3 },
    { case: "one that is certain", weights: [CERTAIN], flips: 1 },
    { case: "a weak, a normal and any other", weights: [WEAK, NORMAL, WEAK], flips: 3 },
  ])("flips after $case", ({ weights, flips }) => {
    const said = settled(["ok", NORMAL], ...weights.map((weight) => ["unreachable", weight] as const));

    expect(said.indexOf("unreachable")).toBe(flips);
  });

  it("forgets dissent when one poll agrees again", () => {
    const said = settled(["ok", NORMAL], ["stalled", NORMAL], ["ok", NORMAL], ["stalled", NORMAL]);

    expect(said).toEqual(["ok", "ok", "ok", "ok"]);
  });

  it("takes the latest opinion when those that disagree differ among themselves", () => {
    expect(settled(["ok", NORMAL], ["unreachable", NORMAL], ["throttled", NORMAL])).toEqual([
      "ok",
      "ok",
      "throttled",
    ]);
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
