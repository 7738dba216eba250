import { describe, expect, it } from "vitest";
import {
  hasReadHeight,
  isChanging,
  newSource,
  reached,
  type SourceState,
  servedOf,
} from "../../../src/core/source/source-state.ts";
import { T0 } from "../chain/chain-fixture.ts";

const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });

/** Heights that were read 15 s apart, the last between T0 - 100 and T0. */
function samplesOf(...blocks: readonly number[]): SourceState["samples"] {
  return blocks.map((block, index) => {
    const receivedAtMs = T0 - (blocks.length - 1 - index) * 15_000;
    return { block, timestampSec: null, hash: null, sentAtMs: receivedAtMs - 100, receivedAtMs };
  });
}

describe("isChanging()", () => {
  const [ok, doubted, lagging] = [
    { ...NEW, verdict: { status: "ok", dissent: 0 } },
    { ...NEW, verdict: { status: "ok", dissent: 1 } },
    { ...NEW, verdict: { status: "lagging", dissent: 0 } },
  ] as const;

  it.each([
    { case: "a status that holds", before: ok, after: ok, changing: false },
    { case: "a poll that speaks against its status", before: ok, after: doubted, changing: true },
    { case: "a status that has just changed", before: ok, after: lagging, changing: true },
    { case: "a doubt that was dispelled", before: doubted, after: ok, changing: false },
    { case: "a first status", before: NEW, after: lagging, changing: false },
    { case: "no status yet", before: NEW, after: NEW, changing: false },
    { case: "no status any more", before: ok, after: NEW, changing: false },
    { case: "a source that is new", before: undefined, after: lagging, changing: false },
    { case: "a source that is gone", before: ok, after: undefined, changing: false },
  ])("is $changing for $case", ({ before, after, changing }) => {
    expect(isChanging(before, after)).toBe(changing);
  });
});

describe("reached()", () => {
  it.each([
    { case: "the newest where it advances", blocks: [1_000, 1_001, 1_002], block: 1_002 },
    { case: "the highest of the last three answers", blocks: [1_009, 1_005, 1_001, 1_003], block: 1_005 },
    { case: "nothing without a height", blocks: [], block: undefined },
  ])("is $case", ({ blocks, block }) => {
    expect(reached({ ...NEW, samples: samplesOf(...blocks) })?.block).toBe(block);
  });

  it("is the newest of equal heights, which was read last", () => {
    expect(reached({ ...NEW, samples: samplesOf(1_000, 1_000) })?.receivedAtMs).toBe(T0);
  });
});

describe("servedOf()", () => {
  const low = samplesOf(498, 499, 500);
  const replicas = { answers: "hlhlll", highBlock: 1_000, low, disagree: true, isStale: true };
  const high: SourceState = { ...NEW, samples: samplesOf(1_000), peak: { block: 1_000, atMs: T0 } };

  it("has the heights of low replicas where these answer too often, the newest as what was reached", () => {
    expect(servedOf({ ...high, replicas })).toEqual({
      ...high,
      replicas,
      samples: low,
      peak: { block: 500, atMs: T0 - 50 },
    });
  });

  it.each([
    { case: "no replica is low", state: high },
    {
      case: "low replicas answer seldom",
      state: { ...high, replicas: { ...replicas, isStale: false } },
    },
  ])("is the source as it stands where $case", ({ state }) => {
    expect(servedOf(state)).toBe(state);
  });
});

describe("hasReadHeight()", () => {
  const times = { sentAtMs: T0 - 100, receivedAtMs: T0 };
  const before = { sentAtMs: T0 - 15_100, receivedAtMs: T0 - 15_000 };
  const failed = (reason: "implausible" | "timeout") =>
    ({ kind: "failed", reason, detail: "", ...times }) as const;

  it.each([
    { case: "a height", last: { kind: "head", ...times }, samples: [times], read: true },
    { case: "a height that was rejected", last: failed("implausible"), samples: [times], read: true },
    { case: "no number, after a height", last: failed("implausible"), samples: [before], read: false },
    { case: "no number, before any height", last: failed("implausible"), samples: [], read: false },
    { case: "a failure", last: failed("timeout"), samples: [times], read: false },
    { case: "a missing chain", last: { kind: "missing", ...times }, samples: [times], read: false },
    { case: "nothing yet", last: null, samples: [], read: false },
  ] as const)("is $read after a poll that gave $case", ({ last, samples, read }) => {
    const heights = samples.map((at) => ({ block: 1_000, timestampSec: null, hash: null, ...at }));

    expect(hasReadHeight({ ...NEW, last, samples: heights })).toBe(read);
  });
});
