import { describe, expect, it } from "vitest";
import { observeInstant } from "../../../src/core/chain/observe.ts";
import { BASE, headAt, headOf, Play, T0, targetOn, watch } from "./chain-fixture.ts";

const [A, B, C] = ["a/x", "a/y", "b/x"] as const;
const RPC = "rpc/base/0";

function play(chain = BASE): Play {
  return new Play(watch(chain, A, B, C));
}

/** All at the head, but for what A says. */
function withA(said: (nowMs: number) => number) {
  return ({ nowMs }: { readonly nowMs: number }) => ({
    [A]: said(nowMs),
    [B]: headOf(nowMs),
    [C]: headOf(nowMs),
  });
}

function sourceOf(played: Play, name: string) {
  return played.state.sources.find(({ key }) => key === targetOn(played.watched.chain, name).key);
}

describe("observeInstant()", () => {
  it("is the same state where nobody who is watched was heard", () => {
    const played = play().run(3, withA(headOf));

    expect(observeInstant(played.state, played.watched, [headAt("rpc/form/0", T0, { block: 1 })])).toBe(
      played.state,
    );
  });

  it.each([
    { case: "as much as the thresholds bear", back: 300, reindex: 0 },
    { case: "more than that", back: 330, reindex: 1 },
  ])("takes a step back of $case for $reindex re-indexes", ({ back, reindex }) => {
    const played = play().run(20, withA(headOf));

    played.run(
      4,
      withA((nowMs) => headOf(nowMs) - back),
    );

    expect(sourceOf(played, A)?.regressions.reindex).toBe(reindex);
  });

  it.each([
    {
      case: "bears 256 blocks of a slow chain",
      chain: { ...BASE, blockTimeMs: 12_000 },
      back: 250,
      reindex: 0,
    },
    { case: "bears no more", chain: { ...BASE, blockTimeMs: 12_000 }, back: 262, reindex: 1 },
    {
      case: "bears 256 where nobody knows the pace",
      chain: { ...BASE, blockTimeMs: null },
      back: 250,
      reindex: 0,
    },
    { case: "bears no more, there", chain: { ...BASE, blockTimeMs: null }, back: 262, reindex: 1 },
    {
      case: "goes by the stricter threshold",
      chain: { ...BASE, thresholds: { ...BASE.thresholds, stalledMs: 6_000_000 } },
      back: 330,
      reindex: 1,
    },
  ])("$case", ({ chain, back, reindex }) => {
    const played = play(chain).run(
      2,
      withA(() => 1_000_000),
    );

    played.run(
      3,
      withA(() => 1_000_000 - back),
    );

    expect(sourceOf(played, A)?.regressions.reindex).toBe(reindex);
  });

  it("lets a source that is ahead of the reference go on at its own pace", () => {
    const played = play()
      .run(8, withA(headOf))
      .run(
        1,
        withA((nowMs) => headOf(nowMs) + 160),
      );

    played.run(
      1,
      withA((nowMs) => headOf(nowMs) + 240),
    );

    expect(sourceOf(played, A)).toMatchObject({ beforeJump: null, last: { kind: "head" } });
  });

  it("takes two that claim the same at their word, and no third that claims something else", () => {
    const played = play().run(8, withA(headOf));

    played.run(2, ({ nowMs }) => ({
      [A]: headOf(nowMs) + 50_000,
      [B]: headOf(nowMs) + 50_000,
      [C]: 9_000_000,
    }));

    expect([A, B, C].map((name) => played.target(name).status)).toEqual(["ok", "ok", "diverged"]);
    expect([A, B, C].map((name) => sourceOf(played, name)?.beforeJump === null)).toEqual([true, true, false]);
  });

  it("keeps the block times that were told before a second source answered", () => {
    const played = play()
      .run(1, ({ nowMs }) => ({ [A]: { block: headOf(nowMs), timestampSec: nowMs / 1_000 } }), 1_000)
      .run(1, ({ nowMs }) => ({ [B]: headOf(nowMs) }), 1_000);

    expect(played.state.clock.reported).toEqual({ blocks: [1_000_000], timesMs: [T0 + 1_000] });
  });

  it("forgets the block times of a source that was believed alone where the others stand elsewhere", () => {
    const played = play().run(
      1,
      ({ nowMs }) => ({ [RPC]: { block: headOf(nowMs) + 100, timestampSec: nowMs / 1_000 } }),
      1_000,
    );
    expect(played.state.clock.reported.blocks).toEqual([1_000_100]);

    played.run(4, withA(headOf), 1_000);

    expect(played.report().reference?.block).toBe(headOf(played.nowMs));
    expect(played.state.clock.reported.blocks).toEqual([]);
  });

  it("forgets the block times of another chain that a source is back from", () => {
    const dated = (nowMs: number, block = headOf(nowMs)) => ({ block, timestampSec: nowMs / 1_000 });
    const played = play()
      .run(8, ({ nowMs, index }) => ({
        [A]: dated(nowMs, 40_000 + 7 * index),
        [B]: dated(nowMs),
        [C]: dated(nowMs),
      }))
      .run(3, ({ nowMs }) => ({ [A]: dated(nowMs), [B]: dated(nowMs), [C]: dated(nowMs) }));

    played.run(1, ({ nowMs }) => ({
      [A]: dated(nowMs),
      [B]: dated(nowMs),
      [C]: dated(nowMs, headOf(nowMs) + 30_000_000),
    }));

    expect(played.state.clock.reported.blocks[0]).toBeGreaterThanOrEqual(1_000_000);
    expect(played.report().blockIntervalMs).toBeCloseTo(2_000, -2);
  });
});
