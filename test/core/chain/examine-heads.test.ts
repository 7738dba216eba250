import { describe, expect, it } from "vitest";
import { examineHeads } from "../../../src/core/chain/examine-heads.ts";
import { startTick } from "../../../src/core/chain/tick.ts";
import { type ChainClock, NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { Head } from "../../../src/core/model/observation.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { BASE, headAt, T0, watch } from "./chain-fixture.ts";

const WATCHED = watch(BASE, "a/x", "a/y", "a/z");
const NOW_SEC = T0 / 1_000;

/** A source that has just answered. */
function answered(index: number, said: Partial<Head>, changed: Partial<SourceState> = {}): SourceState {
  const key = WATCHED.targets[index]?.key ?? "";
  const times = { sentAtMs: T0 - 50, receivedAtMs: T0 + 50 };
  return {
    ...newSource({ key, kind: "indexer", pollIntervalMs: 15_000 }),
    last: { kind: "head", ...times },
    samples: [{ block: 1_000, timestampSec: null, hash: null, ...times, ...said }],
    ...changed,
  };
}

function examined(sources: readonly SourceState[], clock: ChainClock = NEW_CLOCK) {
  const heads = sources.map(({ key }) => headAt(key, T0, { block: 1_000 }));
  const bench = startTick({ sources, reference: null, clock }, WATCHED, heads);
  if (bench === null) {
    throw new Error("Cannot lay out: nobody was heard");
  }
  const after = examineHeads(bench);
  return { clock: after, sources: bench.sources };
}

describe("examineHeads()", () => {
  it("notes the time that a source tells of its block", () => {
    const { clock, sources } = examined([answered(0, { timestampSec: NOW_SEC })]);

    expect(clock.reported).toEqual({ blocks: [1_000], timesMs: [T0] });
    expect(sources[0]?.doubt).toBeNull();
  });

  it("drops a doubt when its source tells neither time nor hash any more", () => {
    const { clock, sources } = examined([answered(0, {}, { doubt: "its time is off", hashMismatches: 3 })]);

    expect(sources[0]).toMatchObject({ doubt: null, hashMismatches: 3 });
    expect(clock).toEqual(NEW_CLOCK);
  });

  it("holds a hash against the others though there is no time, and notes none", () => {
    const sound = [answered(1, { hash: "0xa" }), answered(2, { hash: "0xa" })];

    const { clock, sources } = examined([answered(0, { hash: "0xb" }, { hashMismatches: 1 }), ...sound]);

    expect(sources[0]?.doubt).toBe("its hash of block 1,000 is not that of the other sources");
    expect(sources.map(({ hashMismatches }) => hashMismatches)).toEqual([2, 0, 0]);
    expect(clock).toEqual(NEW_CLOCK);
  });

  it("notes no time of a source that it doubts", () => {
    const known = { reported: { blocks: [1_000], timesMs: [T0 - 3_600_000] }, seen: NEW_CLOCK.seen };

    const { clock, sources } = examined([answered(0, { timestampSec: NOW_SEC, block: 1_001 })], known);

    expect(sources[0]?.doubt).not.toBeNull();
    expect(clock).toEqual(known);
  });

  it("is no witness for itself", () => {
    const known = { reported: { blocks: [1_000], timesMs: [T0 - 3_600_000] }, seen: NEW_CLOCK.seen };

    const { sources } = examined([answered(0, { timestampSec: NOW_SEC })], known);

    expect(sources[0]?.doubt).toBe("its time of block 1,000 contradicts the other sources by 60 min");
  });

  it("forgets reported times that all sources contradict", () => {
    const seen = { blocks: [990], timesMs: [T0 - 20_000] };
    const wrong = { reported: { blocks: [1_000], timesMs: [T0 - 3_600_000] }, seen };

    const { clock } = examined(
      [answered(0, { timestampSec: NOW_SEC }), answered(1, { timestampSec: NOW_SEC })],
      wrong,
    );

    expect(clock).toEqual({ reported: { blocks: [1_000], timesMs: [T0] }, seen });
  });
});
