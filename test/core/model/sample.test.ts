import { describe, expect, it } from "vitest";
import { isHeight, sampleOf } from "../../../src/core/model/sample.ts";
import { newSource, reached } from "../../../src/core/source/source-state.ts";

const NOW_SEC = 1_800_000_000;
const TIMES = { sentAtMs: NOW_SEC * 1_000 - 50, receivedAtMs: NOW_SEC * 1_000 };

describe("sampleOf()", () => {
  it.each([
    { said: NOW_SEC - 5, kept: NOW_SEC - 5 },
    { said: NOW_SEC + 60, kept: NOW_SEC + 60 },
    { said: NOW_SEC + 61, kept: null },
    { said: 1, kept: 1 },
    { said: 0, kept: null },
    { said: -1, kept: null },
    { said: Number.NaN, kept: null },
    { said: null, kept: null },
  ])("keeps $kept of the timestamp $said", ({ said, kept }) => {
    const head = { block: 7, timestampSec: said, hash: "0xa", deployment: null, indexingErrors: null };

    expect(sampleOf(head, TIMES)).toEqual({ block: 7, timestampSec: kept, hash: "0xa", ...TIMES });
  });
});

describe("isHeight()", () => {
  it.each([
    { block: 1, is: true },
    { block: Number.MAX_SAFE_INTEGER, is: true },
    { block: Number.MAX_SAFE_INTEGER + 1, is: false },
    { block: 0, is: false },
    { block: -1, is: false },
    { block: 0.5, is: false },
    { block: Number.NaN, is: false },
  ])("is $is for $block", ({ block, is }) => {
    expect(isHeight(block)).toBe(is);
  });
});

describe("reached()", () => {
  it.each([
    { blocks: [], index: -1 },
    { blocks: [5], index: 0 },
    { blocks: [9, 5, 6, 5], index: 2 },
    { blocks: [5, 6, 6], index: 2 },
  ])("of $blocks is the one at $index", ({ blocks, index }) => {
    const samples = blocks.map((block, at) => ({
      block,
      timestampSec: null,
      hash: null,
      sentAtMs: at,
      receivedAtMs: at,
    }));
    const state = { ...newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 }), samples };

    expect(reached(state)).toBe(samples[index] ?? null);
  });
});
