import { describe, expect, it } from "vitest";
import { compareWeights, headFrom, heldHead, largestGroup } from "../../../src/core/head/choose-head.ts";
import type { Scene } from "../../../src/core/head/scene.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { heard, NOW, sceneOf, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;
const BEFORE = {
  block: HEAD,
  reachedMs: NOW - 40_000,
  atMs: NOW - 10_000,
  slackMs: 70,
  freshUntilMs: NOW + 100_000,
};

describe("headFrom()", () => {
  const remember = (chosen: Voice, before: typeof BEFORE | null = BEFORE) =>
    headFrom(chosen, [chosen], { before, scene: sceneOf([chosen]) });

  it("was reached when the source's height last grew", () => {
    expect(remember(voice("a", HEAD, { idleMs: 7_000 }), null)).toEqual({
      block: HEAD,
      reachedMs: NOW - 7_000,
      atMs: NOW,
      slackMs: 50,
      freshUntilMs: NOW + 300_000,
    });
  });

  it("keeps, at the same block, since when it stands there, and takes the newest confirmation", () => {
    const same = voice("a", HEAD, { idleMs: 3_000 });

    expect(remember(same)).toEqual({
      ...BEFORE,
      atMs: NOW,
      slackMs: 50,
      freshUntilMs: NOW + 300_000,
    });
    expect(remember(heard(60, same))).toMatchObject({ atMs: BEFORE.atMs });
  });

  it("does not fall by what the chain makes in a minute: it only was another source's turn", () => {
    const kept = { ...BEFORE, freshUntilMs: NOW + 300_000 };

    expect(remember(voice("a", HEAD - 1))).toEqual(kept);
    expect(remember(voice("a", HEAD - 30))).toEqual(kept);
    expect(remember(voice("a", HEAD - 31))).toMatchObject({ block: HEAD - 31, atMs: NOW, reachedMs: NOW });
  });

  it("rises at once", () => {
    expect(remember(voice("a", HEAD + 1))).toMatchObject({ block: HEAD + 1, reachedMs: NOW });
  });

  it("stays evidence for as long as the longest of those who stand there", () => {
    const level = [
      voice("a", HEAD, { freshUntilMs: NOW + 5_000 }),
      voice("b", HEAD, { freshUntilMs: NOW + 9_000 }),
    ];
    const [chosen = voice("a", HEAD)] = level;

    expect(headFrom(chosen, level, { before: null, scene: sceneOf(level) }).freshUntilMs).toBe(NOW + 9_000);
  });
});

describe("heldHead()", () => {
  it("is confirmed by those who stand at it, and by nobody else", () => {
    const later = { atMs: NOW + 1_000, freshUntilMs: NOW + 900_000 };

    expect(
      heldHead(BEFORE, [voice("a", HEAD), voice("b", HEAD + 1, later), voice("c", HEAD - 1, later)]),
    ).toEqual({
      ...BEFORE,
      atMs: NOW,
      freshUntilMs: NOW + 300_000,
    });
  });

  it("is never confirmed for an earlier time than before", () => {
    expect(heldHead(BEFORE, [heard(60, voice("a", HEAD, { freshUntilMs: NOW }))])).toEqual(BEFORE);
    expect(heldHead(BEFORE, [])).toEqual(BEFORE);
  });

  it("is none where there was none", () => {
    expect(heldHead(null, [voice("a", HEAD)])).toBe(null);
  });
});

describe("largestGroup()", () => {
  const group = (voices: readonly Voice[], changed: Partial<Scene> = {}) =>
    largestGroup(voices, sceneOf(voices, changed)).map(({ key }) => key);
  const [low, high] = [voice("low", HEAD), voice("high", HEAD + 100)];

  it("is all who stand level with the furthest", () => {
    expect(group([voice("a", HEAD), voice("b", HEAD + 30), voice("c", HEAD + 15)])).toEqual(["a", "b", "c"]);
    expect(group([])).toEqual([]);
  });

  it("is of the most providers, then of the most sources", () => {
    const host = { provider: "host" };
    const behindOne = [
      voice("x", HEAD + 100, host),
      voice("y", HEAD + 100, host),
      voice("z", HEAD + 100, host),
    ];

    expect(group([...behindOne, voice("a", HEAD), voice("b", HEAD)])).toEqual(["a", "b"]);
    expect(group([...behindOne, low])).toEqual(["x", "y", "z"]);
  });

  it("is of equal ones the one with a source on the track, then the highest", () => {
    const track = { block: HEAD, atMs: NOW, intervalMs: 2_000, members: ["low"] };

    expect(group([low, high])).toEqual(["high"]);
    expect(group([high, low])).toEqual(["high"]);
    expect(group([low, high], { track })).toEqual(["low"]);
    const mixed = [low, voice("new", HEAD), high, voice("other", HEAD + 100)];
    expect(group(mixed, { track })).toEqual(["low", "new"]);
  });

  it("leaves out who is above its highest, for those are level with another", () => {
    expect(group([voice("a", HEAD), voice("b", HEAD + 30), voice("c", HEAD + 60)])).toEqual(["b", "c"]);
  });
});

describe("compareWeights()", () => {
  it.each([
    { a: [2, 1], b: [1, 9], sign: 1 },
    { a: [1, 1], b: [1, 2], sign: -1 },
    { a: [1, 1], b: [1, 1], sign: 0 },
    { a: [0], b: [], sign: 1 },
  ])("goes by the first that differs: $a, $b", ({ a, b, sign }) => {
    expect(Math.sign(compareWeights(a, b))).toBe(sign);
  });
});
