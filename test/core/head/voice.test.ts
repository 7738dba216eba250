import { describe, expect, it } from "vitest";
import { isBackfilling, staleAfterMs, type VoiceContext, voicesOf } from "../../../src/core/head/voice.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { NOW } from "./head-fixture.ts";

const HEAD = 1_000_000;
const PACE = { intervalMs: 2_000, measured: true };
const THRESHOLDS = { laggingMs: 600_000, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000 };
const CONTEXT: VoiceContext = { nowMs: NOW, pace: PACE, thresholds: THRESHOLDS, providers: {} };

/** A source that answered each 15 s until now with these heights; each reply took 100 ms. */
function source(blocks: readonly number[], changed: Partial<SourceState> = {}): SourceState {
  const samples = blocks.map((block, index) => {
    const atMs = NOW - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs - 50, receivedAtMs: atMs + 50 };
  });
  return { ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }), samples, ...changed };
}

/** The same, with the age of its newest block. */
function aged(ageMs: number, changed: Partial<SourceState> = {}): SourceState {
  const [sample] = source([HEAD]).samples;
  const timestampSec = (NOW + 50 - ageMs) / 1_000;
  return source([HEAD], { samples: sample === undefined ? [] : [{ ...sample, timestampSec }], ...changed });
}

function voiceOf(state: SourceState, changed: Partial<VoiceContext> = {}) {
  return voicesOf([state], { ...CONTEXT, ...changed })[0];
}

describe("voicesOf()", () => {
  it("has one for each source that was heard, by key", () => {
    const sources = ["c", "a", "b"].map((key) => source([HEAD], { key }));

    expect(voicesOf([...sources, source([], { key: "d" })], CONTEXT).map(({ key }) => key)).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("takes the highest of the last three heights, with the instant at which it was read", () => {
    expect(voiceOf(source([HEAD + 90, HEAD + 7, HEAD + 3, HEAD + 5]))).toMatchObject({
      block: HEAD + 7,
      atMs: NOW - 30_000,
      slackMs: 50,
    });
  });

  it("leaves out who was not heard for so long that it is no evidence", () => {
    const freshUntilMs = NOW + 50 + 300_000;

    expect(voiceOf(source([HEAD]), { nowMs: freshUntilMs })).toMatchObject({ freshUntilMs });
    expect(voiceOf(source([HEAD]), { nowMs: freshUntilMs + 1 })).toBe(undefined);
  });

  it("keeps for three polls what is asked seldom", () => {
    expect(staleAfterMs(THRESHOLDS, 15_000)).toBe(300_000);
    expect(staleAfterMs(THRESHOLDS, 1_800_000)).toBe(5_400_000);
  });

  it("takes the host for the provider, and a source without one for its own", () => {
    expect(voiceOf(source([HEAD]), { providers: { a: "host" } })?.provider).toBe("host");
    expect(voiceOf(source([HEAD]), { providers: { b: "host" } })?.provider).toBe("a");
  });

  it("is worked out anew where the provider, the age or the pace is another", () => {
    const state = source([HEAD - 9_000, HEAD - 4_500, HEAD]);

    expect(voiceOf(state, { providers: { a: "one" } })?.provider).toBe("one");
    expect(voiceOf(state, { providers: { a: "two" } })?.provider).toBe("two");
    expect(voiceOf(state)?.isBackfilling).toBe(true);
    expect(voiceOf(state, { pace: { intervalMs: 10, measured: true } })?.isBackfilling).toBe(false);
    expect(voiceOf(state, { thresholds: { ...THRESHOLDS, staleMs: 900_000 } })?.freshUntilMs).toBe(
      NOW + 900_050,
    );
    const old = aged(700_000);
    expect(voiceOf(old)?.age).toBe("old");
    expect(voiceOf(old, { thresholds: { ...THRESHOLDS, laggingMs: 900_000 } })?.age).toBe("unknown");
  });

  it("has the time of its block, and the last block that it gave a time for", () => {
    const [first, second] = source([HEAD, HEAD + 7]).samples;
    const timestampSec = NOW / 1_000 - 16;
    const samples = first === undefined || second === undefined ? [] : [{ ...first, timestampSec }, second];

    expect(voiceOf(source([], { samples }))).toMatchObject({
      block: HEAD + 7,
      timestampMs: null,
      dated: { block: HEAD, timeMs: NOW - 16_000 },
    });
    expect(voiceOf(aged(2_050))).toMatchObject({
      timestampMs: NOW - 2_000,
      dated: { block: HEAD, timeMs: NOW - 2_000 },
    });
    expect(voiceOf(source([HEAD]))?.dated).toBe(null);
  });

  it.each([
    { ageMs: 0, age: "fresh" },
    { ageMs: 60_000, age: "fresh" },
    { ageMs: 61_000, age: "unknown" },
    { ageMs: 600_000, age: "unknown" },
    { ageMs: 601_000, age: "old" },
  ])("takes a block $ageMs ms old for $age", ({ ageMs, age }) => {
    expect(voiceOf(aged(ageMs))?.age).toBe(age);
  });

  it("takes ten blocks of a slow chain, and what is not yet lagging, for no older", () => {
    const slow = { pace: { intervalMs: 12_000, measured: true } };

    expect([voiceOf(aged(120_000), slow)?.age, voiceOf(aged(121_000), slow)?.age]).toEqual([
      "fresh",
      "unknown",
    ]);
    expect(voiceOf(aged(61_000), { pace: { intervalMs: null, measured: false } })?.age).toBe("unknown");
    const late = { thresholds: { ...THRESHOLDS, laggingMs: 900_000 } };
    expect([voiceOf(aged(900_000), late)?.age, voiceOf(aged(901_000), late)?.age]).toEqual([
      "unknown",
      "old",
    ]);
  });

  it("advanced when its height grew last, if that was on its present track", () => {
    const peak = { block: HEAD, atMs: NOW - 40_000 };

    expect(voiceOf(source([HEAD], { peak, lastAdvanceMs: peak.atMs }))).toMatchObject({
      advancedMs: NOW - 40_000,
      idleMs: 40_000,
    });
    expect(voiceOf(source([HEAD], { peak, lastAdvanceMs: NOW - 90_000 }))).toMatchObject({
      advancedMs: null,
      idleMs: 40_000,
    });
    expect(voiceOf(source([HEAD]))).toMatchObject({ advancedMs: null, idleMs: 0 });
    const ahead = { block: HEAD, atMs: NOW + 9_000 };
    expect(voiceOf(source([HEAD], { peak: ahead }))?.idleMs).toBe(0);
  });
});

describe("isBackfilling()", () => {
  it.each([
    { case: "three times the pace and 300 blocks more", blocks: [0, 172, 345], is: false },
    { case: "one more", blocks: [0, 172, 346], is: true },
    { case: "far more, then at three times the pace", blocks: [0, 9_000, 9_022], is: false },
    { case: "far more, then a block above that", blocks: [0, 9_000, 9_023], is: true },
    { case: "one height", blocks: [9_000], is: false },
    { case: "none", blocks: [], is: false },
  ])("$case: $is", ({ blocks, is }) => {
    expect(isBackfilling(source(blocks.map((block) => HEAD + block)), PACE)).toBe(is);
  });

  it("compares with the fastest chain where nobody knows the pace", () => {
    const unknown = { intervalMs: null, measured: false };

    expect(isBackfilling(source([HEAD, HEAD + 750]), unknown)).toBe(false);
    expect(isBackfilling(source([HEAD, HEAD + 751]), unknown)).toBe(true);
  });
});
