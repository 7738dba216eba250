import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consensus, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { voice as heardNow, NOW, PACE } from "./head-fixture.ts";

const HEAD = 40_000_000;
const CHAIN = { pace: PACE, stalledAfterMs: 600_000 };

/** A source of its own provider at this distance from the head, heard just now; one in two tells the time of its block. */
function voice(key: string, { off, isDated }: { readonly off: number; readonly isDated: boolean }): Voice {
  const block = HEAD + off;
  const timeMs = NOW - 1_000 + Math.min(0, off) * 2_000;
  const sample = { block, timestampSec: null, hash: null, sentAtMs: NOW, receivedAtMs: NOW };
  return isDated
    ? heardNow(key, block, {
        timestampMs: timeMs,
        dated: { block, timeMs },
        age: off > -30 ? "fresh" : "unknown",
        samples: [{ ...sample, timestampSec: timeMs / 1_000 }],
      })
    : heardNow(key, block);
}

const honest = fc.record({ off: fc.integer({ min: -2, max: 0 }), isDated: fc.boolean() });
const liar = fc.record({ off: fc.integer({ min: -1_000_000, max: 50_000_000 }), isDated: fc.boolean() });
const world = fc
  .record({
    honest: fc.array(honest, { minLength: 3, maxLength: 6 }),
    liars: fc.array(liar, { maxLength: 2 }),
  })
  .map((drawn) => ({
    honest: drawn.honest.map((one, index) => voice(`h${index}`, one)),
    liars: drawn.liars.map((one, index) => voice(`l${index}`, one)),
  }));

function opposedAmong(voices: readonly Voice[]): readonly string[] {
  return consensus(voices, NO_CONSENSUS, CHAIN).opposed.map(({ source }) => source);
}

describe("laws of consensus()", () => {
  it("excludes no honest source where they are the majority, nor once one more of them is heard", () => {
    fc.assert(
      fc.property(world, honest, ({ honest: some, liars }, added) => {
        const more = [...some, voice("h9", added), ...liars];

        expect(opposedAmong([...some, ...liars]).filter((key) => key.startsWith("h"))).toEqual([]);
        expect(opposedAmong(more).filter((key) => key.startsWith("h"))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("does not depend on the order in which the sources are given", () => {
    fc.assert(
      fc.property(world, ({ honest: some, liars }) => {
        const forwards = consensus([...some, ...liars], NO_CONSENSUS, CHAIN);
        const backwards = consensus([...some, ...liars].toReversed(), NO_CONSENSUS, CHAIN);

        expect(backwards.head).toEqual(forwards.head);
        expect(backwards.members.toSorted()).toEqual(forwards.members.toSorted());
        expect(backwards.opposed.map(({ source }) => source).toSorted()).toEqual(
          forwards.opposed.map(({ source }) => source).toSorted(),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("is a function of the last answers and the track alone, whatever was said before", () => {
    fc.assert(
      fc.property(world, world, ({ honest: some, liars }, former) => {
        const voices = [...some, ...liars];
        const before = consensus([...former.honest, ...former.liars], NO_CONSENSUS, CHAIN);

        const { opposed, track, undecided } = consensus(voices, before, CHAIN);
        const forgetful = consensus(voices, { ...NO_CONSENSUS, track: before.track }, CHAIN);

        expect({ opposed, track, undecided }).toEqual({
          opposed: forgetful.opposed,
          track: forgetful.track,
          undecided: forgetful.undecided,
        });
      }),
      { numRuns: 300 },
    );
  });
});
