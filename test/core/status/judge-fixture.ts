import { type ChainClock, NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { NO_CONSENSUS, type Opposition } from "../../../src/core/head/consensus.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import type { ChainView } from "../../../src/core/status/judge.ts";
import { BASE, T0 } from "../chain/chain-fixture.ts";

const { thresholds } = BASE;

/** The chain makes a block each 2 s, and was at 10,000 at T0. */
const CLOCK: ChainClock = {
  ...NEW_CLOCK,
  seen: { blocks: [1_000, 10_000], timesMs: [T0 - 18_000_000, T0] },
};
const REFERENCE: HeadState = {
  block: 10_000,
  reachedMs: T0,
  atMs: T0,
  slackMs: 0,
  freshUntilMs: T0 + 300_000,
};
/** The chain as it is at T0, with a reference that is level with its clock. */
export const VIEW: ChainView = {
  thresholds,
  clock: CLOCK,
  intervalMs: 2_000,
  pace: { intervalMs: 2_000, measured: true },
  reference: REFERENCE,
  consensus: NO_CONSENSUS,
  haltedAt: null,
};

/** The others exclude the target `a`. */
export function opposedBy(kind: Opposition["kind"]): ChainView {
  const opposition = { source: "a", kind, by: ["b", "c"], block: 10_000, blocks: 0, offMs: null };
  return { ...VIEW, consensus: { opposed: [opposition] } };
}

/** The same chain without a reference. */
export const ALONE: ChainView = { ...VIEW, reference: null };

/** Heights that were read 15 s apart, the last at T0; the peak is where the last one stands. */
export function target(blocks: readonly number[], changed: Partial<SourceState> = {}): SourceState {
  const times = { sentAtMs: T0, receivedAtMs: T0 };
  const samples = blocks.map((block, index) => {
    const atMs = T0 - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs };
  });
  return {
    ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }),
    last: { kind: "head", ...times },
    samples,
    peak: { block: blocks.at(-1) ?? 0, atMs: T0 },
    ...changed,
  };
}

/** The same with timestamps of `agesSec` at T0, oldest first. */
export function dated(blocks: readonly number[], agesSec: readonly number[]): SourceState {
  const state = target(blocks);
  const samples = state.samples.map((sample, index) => ({
    ...sample,
    timestampSec: T0 / 1_000 - (agesSec[index] ?? 0),
  }));
  return { ...state, samples };
}

/** At the chain's pace, level with the reference. */
export const TIP = [9_977, 9_985, 9_992, 10_000] as const;
/** 20 min behind, at the chain's pace. */
export const LATE = [9_385, 9_392, 9_400] as const;
