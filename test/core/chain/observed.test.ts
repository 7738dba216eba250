import { describe, expect, it } from "vitest";
import { observedIn } from "../../../src/core/chain/observed.ts";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { headAt, T0 } from "./chain-fixture.ts";

const TIMES = { sentAtMs: T0 - 50, receivedAtMs: T0 + 50 };
const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });
const ANSWERED: SourceState = { ...NEW, last: { kind: "head", ...TIMES } };
const REJECTED: SourceState = {
  ...NEW,
  last: { kind: "failed", reason: "implausible", detail: "", ...TIMES },
};
const HEAD = headAt("a", T0, { block: 1_000 });
const TIMEOUT = { kind: "failed", source: "a", ...TIMES, reason: "timeout", detail: "" } as const;

function stateOf(...sources: readonly SourceState[]): ChainState {
  return { sources, consensus: NO_CONSENSUS, clock: NEW_CLOCK };
}

describe("observedIn()", () => {
  it("names the targets whose status is about to change, so that they are polled again soon, and no others", () => {
    const settled: SourceState = { ...ANSWERED, verdict: { status: "ok", dissent: 0 } };
    const doubted: SourceState = { ...settled, key: "b", verdict: { status: "ok", dissent: 1 } };
    const before = stateOf(settled, { ...settled, key: "b" });
    const observations = [HEAD, headAt("b", T0, { block: 900 })];

    expect(observedIn(observations, before, stateOf(settled, doubted))).toEqual({
      changing: ["b"],
      implausible: [],
    });
  });

  it.each([
    { case: "a height that was used", observation: HEAD, after: ANSWERED, implausible: [] },
    { case: "a height that was rejected", observation: HEAD, after: REJECTED, implausible: ["a"] },
    {
      case: "a poll that failed by itself",
      observation: TIMEOUT,
      after: { ...NEW, last: { ...TIMEOUT } },
      implausible: [],
    },
    { case: "a source that has no poll yet", observation: HEAD, after: NEW, implausible: [] },
  ])("counts $case as implausible for $implausible", ({ observation, after, implausible }) => {
    expect(observedIn([observation], stateOf(NEW), stateOf(after)).implausible).toEqual(implausible);
  });

  it("ignores a source that is not watched", () => {
    expect(observedIn([HEAD], stateOf(), stateOf())).toEqual({ changing: [], implausible: [] });
  });
});
