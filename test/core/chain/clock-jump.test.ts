import { describe, expect, it } from "vitest";
import { shiftChain, withoutFuture } from "../../../src/core/chain/clock-jump.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { BASE, headOf, Play, watch } from "./chain-fixture.ts";

const [A, B] = ["airdrops/multichain", "airdrops/subgraph"];
const HOUR_MS = 3_600_000;

function played(): Play {
  return new Play(watch(BASE, A, B)).run(12, ({ nowMs }) => ({
    [A]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
    [B]: headOf(nowMs) - 20,
  }));
}

/** The parts of a report that do not depend on the wall clock. */
function essence(play: Play, byMs = 0) {
  const state = shiftChain(play.state, byMs);
  const { reference, targets } = reportChain(state, play.watched, play.nowMs + 100 + byMs);
  return {
    head: reference?.block,
    targets: targets.map(({ status, lagBlocks, detail }) => ({ status, lagBlocks, detail })),
  };
}

describe("shiftChain()", () => {
  it.each([-HOUR_MS, HOUR_MS])("says the same after our clock was set by %i ms", (byMs) => {
    expect(essence(played(), byMs)).toEqual(essence(played()));
  });
});

describe("withoutFuture()", () => {
  it("leaves a state alone that knows nothing later than now", () => {
    const { state, nowMs } = played();

    expect(withoutFuture(state, nowMs + 50)).toBe(state);
  });

  it("sets a state back that does, so that its newest answer is of now", () => {
    const { state, nowMs } = played();

    const sources = withoutFuture(state, nowMs - HOUR_MS).sources;

    expect(Math.max(...sources.map(({ last }) => last?.receivedAtMs ?? 0))).toBe(nowMs - HOUR_MS);
  });
});

// Where the daemon notices that the clock was set, it shifts the state; this is what holds where it does not.
describe("a clock that is set back an hour for a minute", () => {
  it.each(Array.from({ length: 20 }, (_, phase) => phase * 700))(
    "has nobody called `diverged`, %i ms into a tick",
    (phaseMs) => {
      const play = played();
      const startMs = play.nowMs;
      const truth = (nowMs: number) => headOf(nowMs);
      play.wait(phaseMs - HOUR_MS);
      play.run(4, ({ nowMs }) => ({
        [A]: { block: truth(nowMs + HOUR_MS), timestampSec: Math.floor((nowMs + HOUR_MS) / 1_000) },
        [B]: truth(nowMs + HOUR_MS) - 20,
      }));
      play.wait(HOUR_MS);

      play.run(3, ({ nowMs }) => ({
        [A]: { block: truth(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
        [B]: truth(nowMs) - 20,
      }));

      expect(play.nowMs).toBe(startMs + phaseMs + 7 * 15_000);
      expect(play.report().targets.map(({ status }) => status)).not.toContain("diverged");
      expect(play.report().reference?.block).toBe(headOf(play.nowMs));
    },
  );
});
