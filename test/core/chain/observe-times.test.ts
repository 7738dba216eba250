import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const [A, B, C, D, E] = ["a/x", "b/x", "c/x", "d/x", "e/x"] as const;
const DAY_SEC = 86_400;

/** A height with the time of its block, which is off by `offSec`. */
function dated(nowMs: number, block = headOf(nowMs), offSec = 0): Said {
  return { block, timestampSec: Math.floor(nowMs / 1_000) - offSec };
}

describe("observeInstant() and the block times that sources tell", () => {
  it.each([{ excluded: [] }, { excluded: [D] }, { excluded: [D, E] }])(
    "keeps them for longer than the sources' own heights, with $excluded.length sources excluded",
    ({ excluded }) => {
      const played = new Play(watch(BASE, A, B, C, D, E));

      played.run(12, ({ nowMs }) => ({
        ...Object.fromEntries([A, B, C].map((name) => [name, dated(nowMs)])),
        ...Object.fromEntries(
          excluded.map((name, index) => [name, dated(nowMs, undefined, (index + 1) * DAY_SEC)]),
        ),
      }));

      expect(played.state.consensus.opposed).toHaveLength(excluded.length);
      expect(played.state.clock.reported.blocks).toHaveLength(12);
      expect(played.state.clock.reported.blocks[0]).toBe(headOf(played.nowMs - 11 * 15_000));
    },
  );

  it("forgets those of a source that is newly excluded, where another was excluded before", () => {
    const said = (offSec: number) => (at: { readonly nowMs: number }) => ({
      [A]: dated(at.nowMs, headOf(at.nowMs) + 1, offSec),
      [B]: dated(at.nowMs),
      [C]: dated(at.nowMs),
      [D]: dated(at.nowMs, headOf(at.nowMs), 3 * DAY_SEC),
    });
    const played = new Play(watch(BASE, A, B, C, D)).run(4, said(0));
    const ofA = headOf(played.nowMs) + 1;
    expect(played.state.clock.reported.blocks).toContain(ofA);

    played.run(1, said(DAY_SEC));

    expect(played.state.consensus.opposed).toHaveLength(2);
    expect(played.state.clock.reported.blocks).not.toContain(ofA);
    expect(played.state.clock.reported.blocks).toContain(ofA - 1);
  });

  it("forgets all of them while nothing tells which of two sides is right", () => {
    const played = new Play(watch(BASE, A, B)).run(4, ({ nowMs }) => ({
      [A]: dated(nowMs),
      [B]: dated(nowMs),
    }));
    expect(played.state.clock.reported.blocks).toHaveLength(4);

    played.run(1, ({ nowMs }) => ({
      [A]: dated(nowMs, headOf(nowMs) + 1_000_000),
      [B]: dated(nowMs, headOf(nowMs) + 5_000_000),
    }));

    expect(played.state.consensus.undecided).toHaveLength(2);
    expect(played.state.clock.reported.blocks).toEqual([]);
  });

  it("begins anew with what all who agree have told, where the chain goes on from another height", () => {
    const played = new Play(watch(BASE, A, B)).run(4, ({ nowMs }) => ({
      [A]: dated(nowMs),
      [B]: dated(nowMs),
    }));

    const far = (nowMs: number) => dated(nowMs, headOf(nowMs) + 1_000_000);
    played
      .run(1, ({ nowMs }) => ({ [A]: far(nowMs) }), 4_000)
      .run(1, ({ nowMs }) => ({ [B]: far(nowMs) }), 4_000);

    const here = headOf(played.nowMs) + 1_000_000;
    expect(played.state.clock.reported.blocks).toEqual([here - 2, here]);
  });
});
