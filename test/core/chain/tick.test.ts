import { describe, expect, it } from "vitest";
import { headsReceived, startTick } from "../../../src/core/chain/tick.ts";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { newSource } from "../../../src/core/source/source-state.ts";
import { BASE, headAt, T0, targetOn, watch } from "./chain-fixture.ts";

const WATCHED = watch(BASE, "a/x", "a/y");
const [X, Y] = ["a/x/production/base", "a/y/production/base"];
const RPC = "rpc/base/0";
const EMPTY: ChainState = { sources: [], consensus: NO_CONSENSUS, clock: NEW_CLOCK };

function laidOut(before: ChainState, ...sources: readonly string[]) {
  return startTick(
    before,
    WATCHED,
    sources.map((source) => headAt(source, T0, { block: 1_000 })),
  );
}

function placesOf(tick: ReturnType<typeof startTick>) {
  return tick?.received.map(({ observation, index }) => [observation.source, index]);
}

describe("layOut()", () => {
  it("has the same order whoever is received first", () => {
    const order = [
      [X, 0],
      [Y, 1],
      [RPC, 2],
    ];

    expect(placesOf(laidOut(EMPTY, RPC, Y, X))).toEqual(order);
    expect(placesOf(laidOut(EMPTY, X, Y, RPC))).toEqual(order);
    expect(placesOf(laidOut(EMPTY, Y, X, RPC))).toEqual(order);
  });

  it("keeps the sources in the order of their keys, and edits nothing that was there", () => {
    const known = { ...EMPTY, sources: [newSource({ key: Y, kind: "indexer", pollIntervalMs: 15_000 })] };

    const tick = laidOut(known, X, Y);

    expect(placesOf(tick)).toEqual([
      [X, 0],
      [Y, 1],
    ]);
    expect(tick?.sources.map(({ key }) => key)).toEqual([X, Y]);
    expect(known.sources).toHaveLength(1);
  });

  it("leaves two answers of one source in the order in which they came", () => {
    const answers = [1_000, 1_001].map((block) => headAt(X, T0, { block }));

    expect(startTick(EMPTY, WATCHED, answers)?.received.map(({ observation }) => observation)).toEqual(
      answers,
    );
  });

  it("tells targets from RPC nodes", () => {
    const tick = laidOut(EMPTY, X, RPC);

    expect(tick?.sources.map(({ kind, pollIntervalMs }) => [kind, pollIntervalMs])).toEqual([
      ["indexer", 15_000],
      ["rpc", 0],
    ]);
    expect(tick?.received.map(({ target }) => target?.key ?? null)).toEqual([X, null]);
  });

  it.each(["b/x/production/base", "a/x/production/form", "rpc/form/0", "rpc/base-sepolia/0"])(
    "does not hear %s, which is not watched here",
    (source) => {
      expect(laidOut(EMPTY, source)).toBeNull();
    },
  );

  it("goes by the schedule of now", () => {
    const former = newSource({ key: X, kind: "indexer", pollIntervalMs: 900_000 });

    expect(laidOut({ ...EMPTY, sources: [former] }, X)?.sources[0]?.pollIntervalMs).toBe(15_000);
  });

  it.each([
    { case: "ago", agoMs: 40_000, pollIntervalMs: 40_000 },
    { case: "from now, for our clock was set back", agoMs: -40_000, pollIntervalMs: 0 },
  ])("takes an RPC node's poll $agoMs ms $case for its schedule", ({ agoMs, pollIntervalMs }) => {
    const times = { sentAtMs: T0, receivedAtMs: T0 + 50 - agoMs };
    const former = {
      ...newSource({ key: RPC, kind: "rpc", pollIntervalMs: 0 }),
      last: { kind: "head", ...times },
    } as const;

    expect(laidOut({ ...EMPTY, sources: [former] }, RPC)?.sources[0]?.pollIntervalMs).toBe(pollIntervalMs);
  });

  it("takes the instant of the answers for now, and the chain's configured pace", () => {
    expect(laidOut(EMPTY, X)).toMatchObject({ nowMs: T0 + 50, pace: { intervalMs: 2_000, measured: false } });
  });

  it("takes the last of the answers for now, whoever gave it", () => {
    const answers = [
      headAt(Y, T0 + 100, { block: 1_000 }),
      headAt(RPC, T0, { block: 1_000 }),
      headAt(X, T0, { block: 1_000 }),
    ];

    expect(startTick(EMPTY, WATCHED, answers)?.nowMs).toBe(T0 + 150);
  });
});

describe("headsHeard()", () => {
  it("leaves out who was received without a usable height", () => {
    const tick = laidOut(EMPTY, X, Y);
    const times = { sentAtMs: T0, receivedAtMs: T0 };
    const lasts = [
      { kind: "head", ...times },
      { kind: "missing", ...times },
    ] as const;
    const sources = (tick?.sources ?? []).map((source, index) => ({
      ...source,
      last: lasts[index] ?? null,
    }));

    const heads = tick === null ? [] : headsReceived({ ...tick, sources });

    expect(heads.map(({ target }) => target)).toEqual([targetOn(BASE, "a/x")]);
  });
});
