import { describe, expect, it } from "vitest";
import { observeInstant } from "../../../src/core/chain/observe.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import type { Opposition } from "../../../src/core/head/consensus.ts";
import { BASE, headAt, headOf, Play, targetOn, watch } from "./chain-fixture.ts";

const [A, B, C, D, E, F] = ["a/x", "b/x", "c/x", "d/x", "e/x", "f/x"] as const;

function keyOf(name: string): string {
  return targetOn(BASE, name).key;
}

function sourceOf(state: ChainState, name: string) {
  return state.sources.find(({ key }) => key === keyOf(name));
}

/** All three at the head of the chain, but for what A says. */
function agreeing(ticks: number, saidByA: (nowMs: number) => number = headOf): Play {
  return new Play(watch(BASE, A, B, C)).run(ticks, ({ nowMs }) => ({
    [A]: saidByA(nowMs),
    [B]: headOf(nowMs),
    [C]: headOf(nowMs),
  }));
}

/** The state in which the others exclude `name`. */
function excluding(name: string, kind: Opposition["kind"], { state }: Play): ChainState {
  const opposition = { source: keyOf(name), kind, by: [keyOf(B)], block: 1, blocks: 0, offMs: null };
  return { ...state, consensus: { ...state.consensus, opposed: [opposition] } };
}

describe("observeInstant() and our own clock", () => {
  it.each([
    { case: "two minutes", tookMs: 120_000, believedMs: 120_000 },
    { case: "more than any poll takes", tookMs: 120_001, believedMs: 0 },
    { case: "less than nothing", tookMs: -1, believedMs: 0 },
  ])("believes that a poll took $believedMs ms, where its two times say $case", ({ tookMs, believedMs }) => {
    const played = agreeing(4);
    const said = headAt(keyOf(A), played.nowMs + 15_000, { block: headOf(played.nowMs + 15_000) });

    const state = observeInstant(played.state, played.watched, [
      { ...said, sentAtMs: said.receivedAtMs - tookMs },
    ]);

    const newest = sourceOf(state, A)?.samples.at(-1);
    expect(newest).toMatchObject({
      sentAtMs: said.receivedAtMs - believedMs,
      receivedAtMs: said.receivedAtMs,
    });
  });
});

describe("observeInstant() a source that the others exclude", () => {
  it("may take its height back, which nobody else may without a reorg", () => {
    const played = agreeing(4);
    const atMs = played.nowMs + 15_000;

    const state = observeInstant(
      excluding(A, "times", played),
      played.watched,
      [A, B].map((name) => headAt(keyOf(name), atMs, { block: headOf(played.nowMs) - 10 })),
    );

    expect([A, B].map((name) => sourceOf(state, name)?.regressions.reorg)).toEqual([0, 1]);
  });

  // A is 5,000 blocks behind, and then level with the others.
  it.each([
    { case: "that was excluded as on another chain", excluded: A, kind: "times", advances: false },
    { case: "that was merely too low", excluded: A, kind: "below", advances: true },
    { case: "while another is excluded", excluded: B, kind: "times", advances: true },
  ] as const)("advances to the head in one step, $case: $advances", ({ excluded, kind, advances }) => {
    const played = agreeing(8, (nowMs) => headOf(nowMs) - 5_000);
    const atMs = played.nowMs + 15_000;

    const state = observeInstant(excluding(excluded, kind, played), played.watched, [
      headAt(keyOf(A), atMs, { block: headOf(atMs) }),
    ]);

    expect(sourceOf(state, A)?.lastAdvanceMs === atMs).toBe(advances);
  });

  it.each([
    { blocks: 256, kind: "head" },
    { blocks: 257, kind: "failed" },
  ])("has a poll that counts as $kind with a height $blocks blocks beyond the others", ({ blocks, kind }) => {
    const played = agreeing(12);

    played.run(1, ({ nowMs }) => ({
      [A]: headOf(nowMs) + blocks,
      [B]: headOf(nowMs),
      [C]: headOf(nowMs),
    }));

    expect(played.state.consensus.opposed).toMatchObject([{ source: keyOf(A), blocks }]);
    expect(sourceOf(played.state, A)?.last?.kind).toBe(kind);
  });

  it("keeps its first height until most of the chain's sources have been asked", () => {
    const others = (nowMs: number) => ({ [B]: headOf(nowMs), [C]: headOf(nowMs) });
    const played = new Play(watch(BASE, A, B, C, D, E, F))
      .run(4, ({ nowMs }) => others(nowMs))
      .run(1, ({ nowMs }) => ({ ...others(nowMs), [A]: 9_000_000 }));
    expect(played.state.consensus.opposed).toMatchObject([{ source: keyOf(A), kind: "ahead" }]);
    expect(sourceOf(played.state, A)?.last?.kind).toBe("head");

    played.run(1, ({ nowMs }) => Object.fromEntries([D, E, F].map((name) => [name, headOf(nowMs)])));

    expect(sourceOf(played.state, A)?.last).toMatchObject({ kind: "failed", reason: "implausible" });
  });
});

describe("observeInstant() a height that is possible", () => {
  it("keeps what the indexer says made the deployment fail", () => {
    const played = new Play(watch(BASE, A, B)).run(2, ({ nowMs }) => ({
      [A]: { block: headOf(nowMs), failure: "out of memory" },
      [B]: headOf(nowMs),
    }));

    expect(sourceOf(played.state, A)?.last).toMatchObject({ kind: "head", failure: "out of memory" });
  });
});
