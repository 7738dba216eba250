import { describe, expect, it } from "vitest";
import { settleStatuses } from "../../../src/core/chain/settle-statuses.ts";
import { startTick } from "../../../src/core/chain/tick.ts";
import { observeChain } from "../../../src/core/chain/watch-chain.ts";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { BASE, headAt, T0, targetOn, watch } from "./chain-fixture.ts";

const WATCHED = watch(BASE, "a/x", "a/y");
const X = targetOn(BASE, "a/x").key;
const RPC = "rpc/base/0";
const LAST = { kind: "head", sentAtMs: T0 - 50, receivedAtMs: T0 + 50 } as const;

/** A source that gave 1,000 four times, 5 s old when it did so last, and was at its peak. */
function heard(key: string, changed: Partial<SourceState> = {}): SourceState {
  const kind = key === RPC ? "rpc" : "indexer";
  const sample = { block: 1_000, timestampSec: T0 / 1_000 - 5, hash: null, ...LAST };
  return {
    ...newSource({ key, kind, pollIntervalMs: 15_000 }),
    last: LAST,
    samples: [sample, sample, sample, sample],
    peak: { block: 1_000, atMs: T0 },
    ...changed,
  };
}

/** Judges `now` after its last poll was `agoMs` ago. */
function judged(now: SourceState, agoMs = 15_000): SourceState | undefined {
  const last = { ...LAST, receivedAtMs: T0 + 50 - agoMs };
  const others = [heard(targetOn(BASE, "a/y").key)];
  const before = { sources: [...others, { ...now, last }], consensus: NO_CONSENSUS, clock: NEW_CLOCK };
  const bench = startTick(before, WATCHED, [headAt(now.key, T0, { block: 1_000 })]);
  if (bench === null) {
    throw new Error("Cannot lay out: nobody was heard");
  }
  bench.sources[1] = now;
  settleStatuses(bench, { consensus: NO_CONSENSUS, clock: NEW_CLOCK });
  return bench.sources[1];
}

describe("settleStatuses()", () => {
  it("settles on the first opinion", () => {
    expect(judged(heard(X))?.verdict).toEqual({ status: "ok", dissent: 0 });
  });

  it("is steady while the verdict's evidence is fresh", () => {
    const failed = heard(X, { verdict: { status: "failed", dissent: 0 } });

    expect(judged(failed, 300_000)?.verdict).toEqual({ status: "failed", dissent: 3 });
    expect(judged(failed, 300_001)?.verdict).toEqual({ status: "ok", dissent: 0 });
  });

  it("is steady though a new source answers in the same instant", () => {
    const failed = heard(X, { verdict: { status: "failed", dissent: 0 } });
    const before = { sources: [failed], consensus: NO_CONSENSUS, clock: NEW_CLOCK };
    const watched = watch(BASE, "a/a", "a/x");
    const instant = watched.targets.map(({ key }) => headAt(key, T0 + 15_000, { block: 1_000 }));

    expect(observeChain(before, watched, instant).sources[1]?.verdict).toEqual({
      status: "failed",
      dissent: 3,
    });
  });

  it("passes no verdict on an RPC node", () => {
    expect(judged(heard(RPC))).toEqual(heard(RPC));
  });

  it("passes none on who is not heard", () => {
    const before = { sources: [heard(X)], consensus: NO_CONSENSUS, clock: NEW_CLOCK };
    const bench = startTick(before, WATCHED, [headAt(targetOn(BASE, "a/y").key, T0, { block: 1_000 })]);

    if (bench !== null) {
      settleStatuses(bench, { consensus: NO_CONSENSUS, clock: NEW_CLOCK });
    }

    expect(bench?.sources.map(({ verdict }) => verdict)).toEqual([null, null]);
  });

  it.each([
    { case: "well", changed: {}, reachedTip: true },
    { case: "well, as before", changed: { reachedTip: true }, reachedTip: true },
    { case: "not well any more", changed: { reachedTip: true, indexingErrors: true }, reachedTip: true },
    { case: "not well", changed: { indexingErrors: true }, reachedTip: false },
    {
      case: "well on a single height",
      changed: { samples: heard(X).samples.slice(1, 2) },
      reachedTip: false,
    },
    {
      case: "well, as far as anybody knows",
      changed: { samples: heard(X).samples.map((sample) => ({ ...sample, timestampSec: null })) },
      reachedTip: false,
    },
  ])("has reached the tip: $reachedTip, when it is $case", ({ changed, reachedTip }) => {
    expect(judged(heard(X, changed))?.reachedTip).toBe(reachedTip);
  });
});
