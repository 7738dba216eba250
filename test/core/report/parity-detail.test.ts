import { describe, expect, it } from "vitest";
import { type KnownValues, newKnownValues, type ValueRun } from "../../../src/core/parity/known-values.ts";
import { newPair, type PairState } from "../../../src/core/parity/pair-state.ts";
import { parityDetail } from "../../../src/core/report/parity-detail.ts";
import type { KnownPair } from "../../../src/core/report/report-parity.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";

const OWN = targetOn(BASE, "airdrops/subgraph");
const AGAINST = targetOn(BASE, "airdrops/multichain");
const RUN: ValueRun = { from: 1, to: 1_000, text: "5", isNumber: true, count: 2 };
const NOBODY = new Map<string, readonly string[]>();

function known(changed: Partial<KnownValues> = {}): KnownValues {
  const source = newKnownValues({ probe: "rows", target: "t", query: "q" });
  return { ...source, runs: [RUN], readings: 100, lastMs: T0, ...changed };
}

function judged(result: "equal" | "different", changed: Partial<PairState> = {}): Partial<PairState> {
  const own = { text: "5", isNumber: true };
  const against = { text: result === "equal" ? "5" : "6", isNumber: true };
  return { result, sinceMs: T0 - 180_000, comparison: { block: 1_000, own, against }, ...changed };
}

function streakOf(count: number): PairState["streak"] {
  return { firstMs: T0, count, block: 1, ownMs: T0, againstMs: T0, isNear: false, evidence: "read" };
}

function detail(
  state: Partial<PairState>,
  changed: Partial<KnownPair> = {},
  odd: ReadonlyMap<string, readonly string[]> = NOBODY,
): string {
  const pair = { target: OWN, against: AGAINST };
  const newState = newPair({ probe: "rows", target: OWN.key, against: AGAINST.key });
  return parityDetail(
    { pair, state: { ...newState, ...state }, doubt: null, own: known(), against: known(), ...changed },
    odd,
    T0,
  );
}

describe("parityDetail()", () => {
  it("says for how long two are equal, with the value and the block", () => {
    expect(detail(judged("equal"))).toBe("equal to multichain for 3 min: 5 at block 1,000");
  });

  it("counts no time before now where our clock was set back", () => {
    expect(detail(judged("equal", { sinceMs: T0 + 60_000 }))).toContain("for 0 s:");
  });

  it.each([
    { count: 1, text: "different at the last comparison," },
    { count: 2, text: "different at the last 2 comparisons," },
  ])("says that $count differences are not enough", ({ count, text }) => {
    expect(detail(judged("equal", { streak: streakOf(count) }))).toBe(
      `equal to multichain for 3 min: 5 at block 1,000; ${text} which is not enough to say so yet`,
    );
  });

  it.each([
    { case: "nobody knows who is wrong", odd: NOBODY, text: "nothing shows which of the two is wrong" },
    {
      case: "the target is",
      odd: new Map([[OWN.key, ["x", "y"]]]),
      text: "subgraph is the odd one out, 2 others agree",
    },
    {
      case: "the other is",
      odd: new Map([[AGAINST.key, ["x"]]]),
      text: "multichain is the odd one out, 1 other agree",
    },
    { case: "a third is", odd: new Map([["z", ["x"]]]), text: "nothing shows which of the two is wrong" },
  ])("says what differs, and that $case", ({ odd, text }) => {
    expect(detail(judged("different"), {}, odd)).toBe(
      `differs from multichain for 3 min: 5 here and 6 there at block 1,000; ${text}`,
    );
  });

  it.each<{ why: string; changed: Partial<KnownPair>; state?: Partial<PairState> }>([
    { why: "subgraph is diverged", changed: { doubt: "subgraph is diverged", own: known({ failure: "x" }) } },
    {
      why: "the query of subgraph failed: no such field",
      changed: { own: known({ failure: "no such field" }) },
    },
    { why: "the query of multichain failed: no", changed: { against: known({ failure: "no" }) } },
    {
      why: "the query of subgraph failed: a",
      changed: { own: known({ failure: "a" }), against: known({ failure: "b" }) },
    },
    { why: "subgraph was not read yet", changed: { own: undefined } },
    { why: "subgraph was not read yet", changed: { own: known({ runs: [] }) } },
    { why: "multichain was not read yet", changed: { against: undefined } },
    { why: "multichain was not read yet", changed: { against: known({ runs: [] }) } },
    { why: "subgraph was not read yet", changed: { own: undefined, against: undefined } },
    {
      why: "they were different at 2 comparisons, and only 3 in a row over 2 min are a difference",
      changed: {},
      state: { streak: streakOf(2) },
    },
    {
      why: "they were different at 1 comparison, and only 3 in a row over 2 min are a difference",
      changed: {},
      state: { streak: streakOf(1) },
    },
    { why: "subgraph gave two values for one height", changed: { own: known({ contradictedAt: 90 }) } },
    { why: "multichain gave two values for one height", changed: { against: known({ contradictedAt: 90 }) } },
    {
      why: "the value of subgraph comes and goes between polls",
      changed: { own: known({ returnedAt: 90 }), against: known({ returnedAt: 90 }) },
    },
    {
      why: "the value of multichain comes and goes between polls",
      changed: { against: known({ returnedAt: 90 }) },
    },
    { why: "both are not known at one height, since the value changes between polls", changed: {} },
  ])("says why it is unknown: $why", ({ why, changed, state = {} }) => {
    expect(detail(state, changed)).toBe(`not known to be equal to multichain: ${why}`);
  });

  it("is unknown without a comparison, and without an instant since when", () => {
    expect(detail(judged("equal", { comparison: null }))).toContain("not known to be equal");
    expect(detail(judged("equal", { sinceMs: null }))).toContain("not known to be equal");
  });

  it("names the tier where the two are of different ones", () => {
    const testing = targetOn(BASE, "airdrops/subgraph/testing");
    const names = (target: typeof OWN, against: typeof OWN) =>
      detail(judged("equal"), { pair: { target, against } }).split(" for ")[0];

    expect(names(OWN, testing)).toBe("equal to subgraph (testing)");
    expect(names(testing, OWN)).toBe("equal to subgraph");
    expect(names(testing, testing)).toBe("equal to subgraph");
    expect(
      detail(
        judged("different"),
        { pair: { target: testing, against: OWN } },
        new Map([[testing.key, ["x"]]]),
      ),
    ).toContain("subgraph (testing) is the odd one out");
  });
});
