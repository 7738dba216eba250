import { describe, expect, it } from "vitest";
import type { Observation } from "../../../src/core/model/observation.ts";
import { foldPoll } from "../../../src/core/source/fold-poll.ts";
import { newestSample, newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { headAt, T0 } from "../chain/chain-fixture.ts";

const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });
const CONTEXT = { highestPossible: 2_000, isOpposed: false, largeStepBlocks: 256, staleAfterMs: 300_000 };
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

  it.each(["missing", "not_started"] as const)("keeps what is known when the chain is %s", (kind) => {
    const known = heard(headAt("a", T0 - 15_000, { block: 1_000 }));

    const state = foldPoll(known, { kind, source: "a", ...TIMES }, CONTEXT);

    expect(state).toStrictEqual({ ...known, last: { kind, ...TIMES } });
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

  it("takes the highest block that is possible for a height, and no jump", () => {
    const state = heard(headAt("a", T0, { block: 2_000 }));

    expect(newestSample(state)?.block).toBe(2_000);
    expect(state.beforeJump).toBeNull();
  });

  it("remembers what made the deployment fail, until the next answer does not say so", () => {
    const known = heard(headAt("a", T0 - 15_000, { block: 1_000, failure: "out of memory" }));

    expect(known.last).toMatchObject({ kind: "head", failure: "out of memory" });
    expect(foldPoll(known, headAt("a", T0, { block: 1_001 }), CONTEXT).last).toStrictEqual({
      kind: "head",
      ...TIMES,
    });
  });

  it("counts a small step back from the height before as one reorg", () => {
    const blocks = [1_000, 1_001, 1_002, 1_003, 1_002, 1_004];

    const { regressions } = heard(...blocks.map((block) => headAt("a", T0, { block })));

    expect(regressions).toEqual({ reorg: 1, reindex: 0 });
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

describe("foldPoll() a jump beyond what the chain can have made", () => {
  const before = [1_000, 1_001].map((block, index) => headAt("a", T0 - 60_000 + index * 15_000, { block }));
  const jump = headAt("a", T0 - 30_000, { block: 30_000_000 });
  const blocksOf = ({ samples }: SourceState) => samples.map(({ block }) => block);

  it("begins a track of its own, and is no advance", () => {
    const state = heard(...before, jump);

    expect(blocksOf(state)).toEqual([30_000_000]);
    expect(state).toMatchObject({ peak: { block: 30_000_000 }, lastAdvanceMs: T0 - 45_000 });
    expect(state.beforeJump?.samples.map(({ block }) => block)).toEqual([1_000, 1_001]);
  });

  it("is forgotten when the source returns to its former track", () => {
    const state = heard(...before, jump, headAt("a", T0, { block: 1_004 }));

    expect(blocksOf(state)).toEqual([1_000, 1_001, 1_004]);
    expect(state).toMatchObject({ beforeJump: null, peak: { block: 1_004, atMs: T0 }, lastAdvanceMs: T0 });
    expect(state.regressions).toEqual({ reorg: 0, reindex: 0 });
  });

  it("is not returned from by a height far below the former track", () => {
    const state = heard(...before, jump, headAt("a", T0, { block: 700 }));

    expect(blocksOf(state)).toEqual([30_000_000, 700]);
    expect(state.replicas).toBeNull();
  });

  it.each([
    { case: "256 blocks below its former track", block: 745, isBack: true },
    { case: "257 blocks below its former track", block: 744, isBack: false },
    { case: "256 blocks below its jump, a mere step back there", block: 29_999_744, isBack: false },
    { case: "257 blocks below its jump", block: 29_999_743, isBack: true },
  ])("is back with a height $case: $isBack", ({ block, isBack }) => {
    const jumped = heard(...before, jump);

    const { beforeJump } = foldPoll(jumped, headAt("a", T0, { block }), {
      ...CONTEXT,
      highestPossible: 30_000_100,
    });

    expect(beforeJump === null).toBe(isBack);
  });

  it("is left like any other where it was the first height of all", () => {
    const state = heard(jump, headAt("a", T0, { block: 1_000 }));

    expect(blocksOf(state)).toEqual([1_000]);
    expect(state).toMatchObject({ beforeJump: null, peak: { block: 1_000 } });
  });
});

describe("foldPoll() a source that the others contradict", () => {
  const opposed = { ...CONTEXT, isOpposed: true };
  const claimed = heard(headAt("a", T0 - 15_000, { block: 1_900 }));

  it("starts afresh where it takes its height back", () => {
    const state = foldPoll(claimed, headAt("a", T0, { block: 1_800 }), opposed);

    expect(state.samples.map(({ block }) => block)).toEqual([1_800]);
    expect(state.peak).toEqual({ block: 1_800, atMs: T0 });
  });

  it.each([1_900, 1_901])("keeps its track where it stands or goes on, at %i", (block) => {
    const state = foldPoll(claimed, headAt("a", T0, { block }), opposed);

    expect(state.samples.map((sample) => sample.block)).toEqual([1_900, block]);
  });

  it("keeps its first height, though it was contradicted before it was forgotten", () => {
    const state = foldPoll(NEW, headAt("a", T0, { block: 1_900 }), opposed);

    expect(state.peak).toEqual({ block: 1_900, atMs: T0 });
  });
});
