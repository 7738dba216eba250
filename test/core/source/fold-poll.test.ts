import { describe, expect, it } from "vitest";
import type { Observation } from "../../../src/core/model/observation.ts";
import { acceptClaim, foldPoll } from "../../../src/core/source/fold-poll.ts";
import { newestSample, newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { headAt, T0 } from "../chain/chain-fixture.ts";

const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });
const CONTEXT = { highestPossible: 2_000, largeStepBlocks: 256 };
const TIMES = { sentAtMs: T0 - 50, receivedAtMs: T0 + 50 };

function heard(...observations: readonly Observation[]): SourceState {
  return observations.reduce((state, observation) => foldPoll(state, observation, CONTEXT), NEW);
}

describe("foldPoll()", () => {
  it("keeps the last eight heights, and when they were read", () => {
    const blocks = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((block) => 1_000 + block);

    const { samples, last, lastSuccessMs } = heard(...blocks.map((block) => headAt("a", T0, { block })));

    expect(samples.map(({ block }) => block)).toEqual(blocks.slice(2));
    expect(last).toEqual({ kind: "head", ...TIMES });
    expect(lastSuccessMs).toBe(T0 + 50);
  });

  it.each(["missing", "not_started"] as const)("ends a claim when the chain is %s", (kind) => {
    const claiming = heard(headAt("a", T0 - 15_000, { block: 2_001 }));

    const state = foldPoll(claiming, { kind, source: "a", ...TIMES }, CONTEXT);

    expect(state).toEqual({ ...NEW, last: { kind, ...TIMES } });
  });

  it("remembers why a poll failed, and what was known before", () => {
    const known = heard(headAt("a", T0 - 15_000, { block: 1_000 }));
    const failure = { kind: "failed", reason: "timeout", detail: "10 s" } as const;

    const state = foldPoll(known, { ...failure, source: "a", ...TIMES }, CONTEXT);

    expect(state).toEqual({ ...known, last: { ...failure, ...TIMES } });
  });

  it("changes nothing for a poll that we broke off", () => {
    const known = heard(headAt("a", T0 - 15_000, { block: 1_000 }));

    expect(
      foldPoll(known, { kind: "failed", reason: "aborted", detail: "", source: "a", ...TIMES }, CONTEXT),
    ).toBe(known);
  });

  it("takes the highest block that is possible for a height", () => {
    expect(newestSample(heard(headAt("a", T0, { block: 2_000 })))?.block).toBe(2_000);
  });

  it("counts how often a block beyond that is claimed, and says so", () => {
    const state = heard(headAt("a", T0 - 15_000, { block: 2_001 }), headAt("a", T0, { block: 2_009 }));

    expect(state.claim).toMatchObject({ sample: { block: 2_009 }, polls: 2 });
    expect(state.samples).toEqual([]);
    expect(state.last).toEqual({
      kind: "failed",
      reason: "implausible",
      detail: "block 2,009, where the chain can have reached 2,000 at most",
      ...TIMES,
    });
  });

  it.each([
    { said: [null, "Qm1"], changes: 0, deployment: "Qm1" },
    { said: ["Qm1", null], changes: 0, deployment: "Qm1" },
    { said: ["Qm1", "Qm1"], changes: 0, deployment: "Qm1" },
    { said: ["Qm1", "Qm2"], changes: 1, deployment: "Qm2" },
    { said: ["Qm1", null, "Qm2", "Qm1"], changes: 2, deployment: "Qm1" },
  ])("counts $changes changes of deployment in $said", ({ said, changes, deployment }) => {
    const state = heard(...said.map((name) => headAt("a", T0, { block: 1_000, deployment: name })));

    expect(state).toMatchObject({ deploymentChanges: changes, deployment });
  });
});

describe("acceptClaim()", () => {
  const claim = headAt("a", T0, { block: 2_001 });

  it("starts afresh from the claimed height", () => {
    const state = acceptClaim(heard(headAt("a", T0 - 15_000, { block: 1_000 }), claim));

    expect(state).toMatchObject({
      claim: null,
      samples: [{ block: 2_001 }],
      peak: { block: 2_001, atMs: T0 },
      lastSuccessMs: T0 + 50,
      lastAdvanceMs: T0,
      last: { kind: "head", ...TIMES },
    });
  });

  it("has seen no advance where the claim is the first height", () => {
    expect(acceptClaim(heard(claim)).lastAdvanceMs).toBeNull();
  });

  it("changes nothing without a claim", () => {
    expect(acceptClaim(NEW)).toBe(NEW);
  });
});
