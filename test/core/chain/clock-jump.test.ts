import { describe, expect, it } from "vitest";
import { shiftChain, withoutFuture } from "../../../src/core/chain/clock-jump.ts";
import { startChain } from "../../../src/core/chain/watch-chain.ts";
import { NO_MEASURES } from "../../../src/core/gap/gap.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { newSource } from "../../../src/core/source/source-state.ts";
import { ParityPlay } from "../parity/parity-play.ts";
import { BASE, headOf, Play, T0, watch } from "./chain-fixture.ts";

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

/** The names under which a state holds instants, of which it is full. */
const INSTANTS = new Set(
  "sentAtMs receivedAtMs atMs reachedMs freshUntilMs lastSuccessMs lastAdvanceMs partnerMs timesMs".split(
    " ",
  ),
);

/** The same data with all instants `byMs` later. */
function later(data: unknown, byMs: number, isInstant = false): unknown {
  if (Array.isArray(data)) {
    return data.map((item) => later(item, byMs, isInstant));
  }
  if (typeof data === "object" && data !== null) {
    const entries = Object.entries(data);
    return Object.fromEntries(entries.map(([key, value]) => [key, later(value, byMs, INSTANTS.has(key))]));
  }
  return isInstant && typeof data === "number" ? data + byMs : data;
}

/** A state in which everything is known that can be, of a source that has jumped and whose replicas disagree. */
function fullState(): ChainState {
  const { state } = played();
  const low = state.sources[1]?.samples ?? [];
  const replicas = { answers: "hlhl", highBlock: 1, low, disagree: true, isStale: false };
  const beforeJump = { samples: low, peak: { block: 5, atMs: T0 } };
  const gap = { ...NO_MEASURES, newest: { atMs: T0, partnerMs: T0 - 5 } };
  return {
    ...state,
    sources: state.sources.map((source) => ({ ...source, replicas, beforeJump, gap })),
    consensus: {
      ...state.consensus,
      track: { block: 5, atMs: T0, intervalMs: 2_000, members: [] },
    },
  };
}

describe("shiftChain()", () => {
  it.each([-HOUR_MS, HOUR_MS])("sets every instant by %i ms, and nothing else", (byMs) => {
    const state = fullState();

    expect(state.consensus.head).not.toBeNull();
    expect(state.clock.seen.timesMs.length).toBeGreaterThan(0);
    const { clock, ...others } = shiftChain(state, byMs);
    const { clock: before, ...othersBefore } = state;
    expect(others).toEqual(later(othersBefore, byMs));
    // What blocks said of their own times holds whatever our clock says.
    expect(clock).toEqual({ reported: before.reported, seen: later(before.seen, byMs) });
  });

  it("leaves what is not known unknown", () => {
    const source = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });
    const state = {
      ...startChain(watch(BASE, A)),
      sources: [source, { ...source, beforeJump: { samples: [], peak: null } }],
    };

    expect(shiftChain(state, HOUR_MS)).toEqual(state);
  });

  it("sets what is known of the targets' data with it", () => {
    const play = new ParityPlay()
      .read({ a: [1_000, 5], b: [1_000, 5] })
      .read({ a: [2_000, 6], b: [2_000, 5] });
    const state = { ...played().state, parity: play.state };

    const [pair] = shiftChain(state, HOUR_MS).parity?.pairs ?? [];

    const { last, sinceMs, streak } = play.pair();
    const hourLater = (atMs = 0) => atMs + HOUR_MS;
    expect(pair).toEqual({
      ...play.pair(),
      sinceMs: hourLater(sinceMs ?? 0),
      last: last && {
        ...last,
        atMs: hourLater(last.atMs),
        ownMs: hourLater(last.ownMs),
        againstMs: hourLater(last.againstMs),
      },
      streak: streak && {
        ...streak,
        firstMs: hourLater(streak.firstMs),
        ownMs: hourLater(streak.ownMs),
        againstMs: hourLater(streak.againstMs),
      },
    });
    expect(streak?.count).toBe(1);
  });

  it("knows of no data where none was known", () => {
    expect(shiftChain(played().state, HOUR_MS)).not.toHaveProperty("parity");
  });

  it.each([-HOUR_MS, HOUR_MS])("says the same after our clock was set by %i ms", (byMs) => {
    expect(essence(played(), byMs)).toEqual(essence(played()));
  });
});

describe("withoutFuture()", () => {
  it("leaves a state alone that knows nothing later than now", () => {
    const { state, nowMs } = played();

    expect(withoutFuture(state, nowMs + 50)).toBe(state);
  });

  it("leaves a state alone whose answers overlap by less than five seconds, or that has none", () => {
    const { state, nowMs } = played();
    const empty = startChain(watch(BASE, A));

    expect(withoutFuture(state, nowMs + 50 - 5_000)).toBe(state);
    expect(withoutFuture(state, nowMs + 50 - 5_001)).not.toBe(state);
    expect(withoutFuture(empty, 0)).toBe(empty);
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
