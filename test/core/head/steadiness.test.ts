import { describe, expect, it } from "vitest";
import { unsteadyOf } from "../../../src/core/head/steadiness.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { voice as heardNow, NOW, PACE } from "./head-fixture.ts";

/** A source that was asked so often until now, and whose height grew by so many blocks each time. */
function voice(
  key: string,
  growth: readonly number[],
  { provider = key, pollIntervalMs = 15_000 } = {},
): Voice {
  const blocks = [1_000_000];
  for (const by of growth) {
    blocks.push((blocks.at(-1) ?? 0) + by);
  }
  const samples = blocks.map((block, index) => {
    const atMs = NOW - (growth.length - index) * pollIntervalMs;
    return { block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs };
  });
  return heardNow(key, blocks.at(-1) ?? 0, { provider, samples, pollIntervalMs });
}

/** 15 s at 2 s a block. */
const USUAL = [7, 8, 7, 8, 7, 8, 7];
const HONEST = [voice("a", USUAL), voice("b", USUAL)];

function unsteady(voices: readonly Voice[], pace = PACE): readonly string[] {
  return [...unsteadyOf(voices, pace)].map(({ key }) => key);
}

describe("unsteadyOf()", () => {
  it.each([
    { case: "at the pace of the chain", growth: USUAL, names: [] },
    { case: "a tenth faster", growth: [8, 8, 8, 8, 8, 8, 9], names: [] },
    { case: "a quarter faster", growth: [9, 9, 10, 9, 9, 10, 9], names: ["x"] },
    { case: "a quarter slower", growth: [6, 5, 6, 5, 6, 5, 6], names: ["x"] },
    { case: "standing still", growth: [0, 0, 0, 0, 0, 0, 0], names: ["x"] },
    { case: "twice as fast, watched for 45 s", growth: [15, 15, 15], names: ["x"] },
    { case: "twice as fast, watched for 30 s", growth: [15, 15], names: [] },
    { case: "up and down between replicas", growth: [40, -20, 40, -20, 40, -20, 40], names: [] },
    { case: "back from far ahead, in one step", growth: [8, 7, 8, -1_000, 8, 7, 8], names: [] },
    { case: "heard once", growth: [], names: [] },
  ])("judges one $case", ({ growth, names }) => {
    expect(unsteady([...HONEST, voice("x", growth)])).toEqual(names);
  });

  it("takes two blocks more or less for chance, however few they come in", () => {
    const slow = { intervalMs: 12_000, measured: true };
    const honest = [voice("a", [1, 1, 2, 1, 1, 1, 2]), voice("b", [1, 1, 2, 1, 1, 1, 2])];

    expect(unsteady([...honest, voice("x", [2, 1, 2, 1, 2, 1, 1])], slow)).toEqual([]);
    expect(unsteady([...honest, voice("x", [2, 2, 2, 1, 2, 1, 2])], slow)).toEqual(["x"]);
  });

  it("does not hold what a source did half an hour ago against the pace of the last ten minutes", () => {
    const slow = voice("x", [1_500, 1_200], { pollIntervalMs: 1_800_000 });

    expect(unsteady([...HONEST, slow])).toEqual([]);
  });

  it.each([
    { case: "while the pace is only configured", pace: { intervalMs: 2_000, measured: false } },
    { case: "where nobody knows the pace", pace: { intervalMs: null, measured: false } },
  ])("names nobody $case", ({ pace }) => {
    expect(unsteady([...HONEST, voice("x", [15, 15, 15])], pace)).toEqual([]);
  });

  it("names nobody where not most providers keep the pace: the chain may have changed it", () => {
    expect(unsteady([voice("a", USUAL), voice("x", [15, 15, 15])])).toEqual([]);
    const together = ["a", "b"].map((key) => voice(key, USUAL, { provider: "one" }));
    expect(unsteady([...together, voice("x", [15, 15, 15])])).toEqual([]);
  });
});
