import { describe, expect, it } from "vitest";
import { type ChainClock, NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { HeadState } from "../../../src/core/head/choose-head.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { measureLag } from "../../../src/core/status/lag.ts";

/** The reference was seen at block 1,000 at 100 s and at block 1,100 at 300 s. */
const CLOCK: ChainClock = { ...NEW_CLOCK, seen: { blocks: [1_000, 1_100], timesMs: [100_000, 300_000] } };

const REFERENCE: HeadState = {
  block: 1_100,
  reachedMs: 300_000,
  atMs: 300_000,
  slackMs: 0,
  freshUntilMs: 600_000,
};
const VIEW = { reference: REFERENCE, clock: CLOCK, intervalMs: 2_000 };

/** Heights that were read 15 s apart, the last at 300 s. */
function target(...blocks: readonly number[]): SourceState {
  const samples = blocks.map((block, index) => {
    const atMs = 300_000 - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs - 50, receivedAtMs: atMs + 50 };
  });
  return { ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }), samples };
}

describe("measureLag()", () => {
  it.each([
    { case: "level", blocks: [1_100], lag: { blocks: 0, ms: 0, extrapolated: false } },
    { case: "ahead", blocks: [1_103], lag: { blocks: 0, ms: 0, extrapolated: false } },
    { case: "a block behind", blocks: [1_099], lag: { blocks: 1, ms: 2_000, extrapolated: false } },
    { case: "before what was seen", blocks: [990], lag: { blocks: 110, ms: 220_000, extrapolated: true } },
    {
      case: "served by a replica that is behind",
      blocks: [1_090, 1_050],
      lag: { blocks: 10, ms: 20_000, extrapolated: false },
    },
  ])("measures one that is $case", ({ blocks, lag }) => {
    expect(measureLag(target(...blocks), VIEW)).toEqual(lag);
  });

  it("takes the reference at the instant of the target's own answer", () => {
    const { samples, ...rest } = target(1_050);
    const earlier = samples.map((sample) => ({ ...sample, sentAtMs: 199_000, receivedAtMs: 201_000 }));

    expect(measureLag({ ...rest, samples: earlier }, VIEW)?.blocks).toBe(0);
  });

  it("is level with who has the reference's block, however much later it was asked", () => {
    const { samples, ...rest } = target(1_100);
    const later = samples.map((sample) => ({ ...sample, sentAtMs: 320_000, receivedAtMs: 320_000 }));

    expect(measureLag({ ...rest, samples: later }, VIEW)).toMatchObject({ blocks: 0, ms: 0 });
  });

  it("knows no fractions of a block", () => {
    const { samples, ...rest } = target(1_100);
    const later = samples.map((sample) => ({ ...sample, sentAtMs: 300_800, receivedAtMs: 300_800 }));

    expect(measureLag({ ...rest, samples: later }, VIEW)).toEqual({
      blocks: 0,
      ms: 0,
      extrapolated: false,
    });
  });

  it("knows no time where nothing tells how long a block takes", () => {
    expect(measureLag(target(990), { ...VIEW, intervalMs: null })).toEqual({
      blocks: 110,
      ms: null,
      extrapolated: false,
    });
  });

  it.each([
    { case: "a height", state: target(), view: VIEW },
    { case: "a reference", state: target(1_000), view: { ...VIEW, reference: null } },
    { case: "a history", state: target(1_000), view: { ...VIEW, clock: NEW_CLOCK } },
  ])("is null without $case", ({ state, view }) => {
    expect(measureLag(state, view)).toBeNull();
  });

  it("is level with a reference that stands, however long ago it was reached", () => {
    const { samples, ...rest } = target(1_100);
    const later = samples.map((sample) => ({ ...sample, sentAtMs: 900_000, receivedAtMs: 900_000 }));

    const view = { ...VIEW, reference: { ...REFERENCE, atMs: 880_000 } };

    expect(measureLag({ ...rest, samples: later }, view)).toEqual({ blocks: 0, ms: 0, extrapolated: false });
  });

  it("does not count the time that the chain itself stood at the target's block", () => {
    const seen = { blocks: [1_000, 1_100, 1_100, 1_101], timesMs: [100_000, 300_000, 1_500_000, 1_502_000] };
    const reference = { ...REFERENCE, block: 1_101 };
    const { samples, ...rest } = target(1_100);
    const later = samples.map((sample) => ({ ...sample, sentAtMs: 1_502_000, receivedAtMs: 1_502_000 }));

    const lag = measureLag(
      { ...rest, samples: later },
      { reference, clock: { ...NEW_CLOCK, seen }, intervalMs: 2_000 },
    );

    expect(lag).toEqual({ blocks: 1, ms: 2_000, extrapolated: false });
  });
});
