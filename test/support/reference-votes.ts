import type { Pace } from "../../src/core/head/pace.ts";
import { type ReferenceState, updateReference, type Vote } from "../../src/core/head/reference.ts";

export const PACE: Pace = { intervalMs: 2_000, measured: true };
export const NOW = 36_000_000;

/** What a source of usual weight says at `NOW`. */
export function vote(block: number, changed: Partial<Vote> = {}): Vote {
  return {
    block,
    atMs: NOW,
    slackMs: 50,
    timestampSec: null,
    freshUntilMs: NOW + 300_000,
    pollIntervalMs: 15_000,
    weight: "normal",
    steady: true,
    ...changed,
  };
}

/** What three sources agreed on 15 s before `NOW`. */
export function reference(block: number, changed: Partial<ReferenceState> = {}): ReferenceState {
  return {
    block,
    reachedMs: NOW - 15_000,
    atMs: NOW - 15_000,
    slackMs: 50,
    sources: 3,
    freshUntilMs: NOW + 285_000,
    former: null,
    firm: true,
    ...changed,
  };
}

export function update(previous: ReferenceState | null, ...votes: readonly Vote[]): ReferenceState | null {
  return updateReference(previous, votes, { nowMs: NOW, pace: PACE });
}
