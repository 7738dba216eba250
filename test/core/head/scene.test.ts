import { describe, expect, it } from "vitest";
import {
  aboveTrack,
  areLevel,
  carried,
  expected,
  isOnTrack,
  isWithinMinute,
  offTrack,
} from "../../../src/core/head/scene.ts";
import { heard, NOW, sceneOf, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;
const CONFIGURED = { intervalMs: 2_000, measured: false };
const UNKNOWN = { intervalMs: null, measured: false };
const [A] = [voice("a", HEAD)];

describe("areLevel()", () => {
  it.each([
    { case: "a minute of blocks", pace: { intervalMs: 2_000, measured: true }, most: 30 },
    { case: "three blocks where a minute has fewer", pace: { intervalMs: 30_000, measured: true }, most: 3 },
    { case: "ten blocks where nobody knows the pace", pace: UNKNOWN, most: 10 },
  ])("allows $case", ({ pace, most }) => {
    const apart = (blocks: number) => {
      const other = voice("b", HEAD + blocks);
      return areLevel(A, other, sceneOf([A, other], { pace }));
    };

    expect(apart(most)).toBe(true);
    expect(apart(most + 1)).toBe(false);
    expect(apart(-most)).toBe(true);
    expect(apart(-most - 1)).toBe(false);
  });

  it("allows for the error of the pace over the time between the answers", () => {
    const early = heard(1_000, voice("b", HEAD - 500));
    const level = (blocks: number, pace = CONFIGURED) => {
      const other = { ...early, block: early.block - blocks };
      return areLevel(A, other, sceneOf([A, other], { pace }));
    };
    const measured = { intervalMs: 2_000, measured: true };

    expect([level(40, measured), level(41, measured)]).toEqual([true, false]);
    expect([level(280), level(281)]).toEqual([true, false]);
  });
});

describe("carried()", () => {
  it("is where a source will have got to by the newest answer, and never above what anybody has shown", () => {
    const early = heard(20, voice("b", HEAD - 12));

    expect(expected(early, sceneOf([A, early]))).toBe(HEAD - 2);
    expect(carried(early, sceneOf([A, early]))).toBe(HEAD - 2);
    const shown = heard(20, voice("b", HEAD - 3));
    expect(expected(shown, sceneOf([A, shown]))).toBe(HEAD + 7);
    expect(carried(shown, sceneOf([A, shown]))).toBe(HEAD);
  });

  it("is never below what it has shown itself", () => {
    expect(carried(A, sceneOf([A], { highest: HEAD - 5 }))).toBe(HEAD);
  });

  it("is what it has shown where nobody knows the pace", () => {
    const early = heard(20, voice("b", HEAD - 12));

    expect(carried(early, sceneOf([A, early], { pace: UNKNOWN }))).toBe(HEAD - 12);
  });
});

describe("a track", () => {
  const track = { block: HEAD - 500, atMs: NOW - 1_000_000, intervalMs: 2_000, members: ["a"] };

  it("tells by how many blocks a source is above or below it", () => {
    expect(aboveTrack(A, sceneOf([A], { track }))).toBe(0);
    expect(aboveTrack(voice("a", HEAD + 7), sceneOf([A], { track }))).toBe(7);
    expect(aboveTrack(voice("a", HEAD - 7), sceneOf([A], { track }))).toBe(-7);
    expect(aboveTrack(A, sceneOf([A]))).toBe(0);
  });

  it("allows ten seconds of blocks, and what the error of the pace makes over the time since", () => {
    const off = (blocks: number, pace = CONFIGURED) =>
      offTrack(voice("a", HEAD + blocks), sceneOf([A], { track, pace }));
    const measured = { intervalMs: 2_000, measured: true };

    expect([off(15, measured), off(16, measured)]).toEqual([0, 16]);
    expect([off(-15, measured), off(-16, measured)]).toEqual([0, -16]);
    expect([off(255), off(256)]).toEqual([0, 256]);
  });

  it("allows four blocks where ten seconds have fewer", () => {
    const slow = { block: HEAD, atMs: NOW, intervalMs: 12_000, members: ["a"] };
    const off = (blocks: number) => offTrack(voice("a", HEAD + blocks), sceneOf([A], { track: slow }));

    expect([off(4), off(5)]).toEqual([0, 5]);
  });

  it("has only those on it who once stood level with it", () => {
    expect(isOnTrack(A, sceneOf([A], { track }))).toBe(true);
    expect(isOnTrack(voice("a", HEAD + 16), sceneOf([A], { track }))).toBe(false);
    expect(isOnTrack(voice("b", HEAD), sceneOf([A], { track }))).toBe(false);
    expect(isOnTrack(A, sceneOf([A]))).toBe(false);
  });

  describe("whose pace nobody knew", () => {
    const blind = { block: HEAD, atMs: NOW - 60_000, intervalMs: null, members: ["a"] };
    const above = (block: number) =>
      aboveTrack(voice("a", block), sceneOf([A], { track: blind, pace: UNKNOWN }));
    const off = (block: number) => offTrack(voice("a", block), sceneOf([A], { track: blind, pace: UNKNOWN }));
    /** Eight times the fastest chain's 1,200 blocks in the two minutes that are allowed for, and 16. */
    const most = HEAD + 16 + 8 * 1_200;

    it("leads to all that the chain can have made", () => {
      expect([above(HEAD), above(most), above(most + 1)]).toEqual([0, 0, 1]);
      expect(above(HEAD - 1)).toBe(-1);
    });

    it("allows ten blocks", () => {
      expect([off(most + 10), off(most + 11)]).toEqual([0, 11]);
      expect([off(HEAD - 10), off(HEAD - 11)]).toEqual([0, -11]);
    });
  });
});

describe("isWithinMinute()", () => {
  it.each([
    { pace: { intervalMs: 2_000, measured: true }, most: 30 },
    { pace: { intervalMs: 30_000, measured: true }, most: 3 },
    { pace: UNKNOWN, most: 10 },
  ])("is up to $most blocks with a pace of $pace.intervalMs ms", ({ pace, most }) => {
    const scene = sceneOf([A], { pace });

    expect([isWithinMinute(most, scene), isWithinMinute(most + 1, scene)]).toEqual([true, false]);
  });
});
