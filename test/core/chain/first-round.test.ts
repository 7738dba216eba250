import { describe, expect, it } from "vitest";
import { isDecided, isTooEarly, judgedAgain } from "../../../src/core/chain/first-round.ts";
import { startTick, type Tick } from "../../../src/core/chain/tick.ts";
import { NEW_CLOCK } from "../../../src/core/head/chain-clock.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { BASE, headAt, headOf, Play, T0, targetOn, watch } from "./chain-fixture.ts";

const RPC = "rpc/base/0";
const [A, B, C, D] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
const FAR = 100_000;

describe("a first height that is behind those of the others", () => {
  it("is not held against its source before all have been asked", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs) }), 1_000)
      .run(1, ({ nowMs }) => ({ [B]: headOf(nowMs) - FAR }), 1_000);

    expect(played.target(B)).toMatchObject({
      status: "unknown",
      up: true,
      detail:
        "its first height is behind or contradicts the others, and its chain's other sources have not all been polled yet",
    });
    expect(played.run(1, () => ({ [C]: "timeout" }), 1_000).target(B).status).toBe("lagging");
  });

  it("is held against it once most providers agree", () => {
    const played = new Play(watch(BASE, A, B, C, D, "flow/envio"));

    played.run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs), [C]: headOf(nowMs) - FAR }));
    expect(played.target(C).status).toBe("unknown");
    played.run(1, ({ nowMs }) => ({ [D]: headOf(nowMs) }), 1_000);

    expect(played.target(C).status).toBe("lagging");
  });

  it("is not by many sources of one provider", () => {
    const watched = watch(BASE, A, B, C, D, "flow/envio");
    const shared = [A, B, D].map((name) => [targetOn(BASE, name).key, "one.example"]);
    const played = new Play({ ...watched, providers: Object.fromEntries(shared) });

    played.run(1, ({ nowMs }) => ({
      ...Object.fromEntries([A, B, D].map((name) => [name, headOf(nowMs)])),
      [C]: headOf(nowMs) - FAR,
    }));

    expect(played.target(C).status).toBe("unknown");
  });

  it("is held against it at its second poll, whoever has not been polled by then", () => {
    const played = new Play(watch(BASE, A, B, C)).run(2, ({ nowMs }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs) - FAR,
    }));

    expect(played.target(B).status).toBe("lagging");
  });

  it("ends at once what was said of a source that gave none", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: "not_found" }))
      .run(1, ({ nowMs }) => ({ [B]: headOf(nowMs) - FAR }));

    expect(played.target(B).status).toBe("lagging");
  });
});

describe("a status that rests on first heights", () => {
  it("follows what other new sources say, until its source has given three", () => {
    const ahead = ({ nowMs }: { readonly nowMs: number }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs) + FAR,
    });
    const two = new Play(watch(BASE, A, B, C)).run(2, ahead);
    const three = new Play(watch(BASE, A, B, C)).run(3, ahead);
    expect([two, three].map((played) => played.target(A).status)).toEqual(["lagging", "lagging"]);

    for (const played of [two, three]) {
      played.run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }), 1_000);
    }

    expect([two, three].map((played) => played.target(A).status)).toEqual(["ok", "lagging"]);
  });

  it("does not follow what old sources say", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(3, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }))
      .run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }))
      .run(10, ({ nowMs }) => ({ [A]: headOf(nowMs) + FAR, [B]: headOf(nowMs) + FAR }));
    expect(played.target(C)).toMatchObject({ status: "ok", up: true });

    played.run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }));

    expect(played.target(C).status).not.toBe("ok");
  });

  it("is not doubted more by its last poll each time that another answers", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs) }), 1_000)
      .run(1, () => ({ [A]: "timeout" }), 1_000)
      .run(4, ({ nowMs }) => ({ [B]: headOf(nowMs), [C]: "not_started" }), 1_000);

    expect(played.state.sources[0]?.verdict).toEqual({ status: "ok", dissent: 2 });
  });

  it("takes back that a height is impossible", () => {
    const contradicted = ({ nowMs }: { readonly nowMs: number }) => ({
      [RPC]: { block: headOf(nowMs) - FAR, timestampSec: Math.floor(nowMs / 1_000) },
      [A]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
    });
    const played = new Play(watch(BASE, A, B, C)).run(1, (tick) => ({
      ...contradicted(tick),
      [B]: "timeout",
      [C]: "timeout",
    }));
    expect(played.target(A)).toMatchObject({ status: "diverged", reason: "implausible", up: false });

    played.run(1, ({ nowMs }) => ({ [B]: headOf(nowMs), [C]: headOf(nowMs) }), 1_000);

    expect(played.target(A)).toMatchObject({ status: "ok", reason: null, up: true });
  });
});

const CHAIN = watch(BASE, "a/x", "a/y", "a/z");
const [X = "", Y = "", Z = ""] = CHAIN.targets.map(({ key }) => key);

/** A source that gave so many heights, the last of them `T0`. */
function gave(key: string, heights: number, changed: Partial<SourceState> = {}): SourceState {
  const sample = { block: 1_000, timestampSec: null, hash: null, sentAtMs: T0 - 50, receivedAtMs: T0 };
  return {
    ...newSource({ key, kind: "indexer", pollIntervalMs: 15_000 }),
    last: { kind: "head", sentAtMs: T0 - 50, receivedAtMs: T0 },
    samples: Array.from({ length: heights }, () => sample),
    ...changed,
  };
}

function tickOf(before: readonly SourceState[], ...heard: readonly string[]): Tick {
  const tick = startTick(
    { sources: before, consensus: NO_CONSENSUS, clock: NEW_CLOCK },
    { ...CHAIN, providers: { "rpc/base/0": "node.example", "rpc/form/0": "node.example" } },
    heard.map((key) => headAt(key, T0 + 1_000, { block: 1_000 })),
  );
  if (tick === null) {
    throw new Error("Cannot start a tick: nobody was heard");
  }
  return tick;
}

function failedWith(reason: FailureReason, receivedAtMs = T0): Partial<SourceState> {
  return { last: { kind: "failed", reason, detail: "", sentAtMs: receivedAtMs - 50, receivedAtMs } };
}

describe("judgedAgain()", () => {
  it.each([
    { case: "is heard for the first time", heard: [X], before: [] },
    { case: "gave no height yet", heard: [X], before: [gave(X, 0)] },
    { case: "gave one height", heard: [X], before: [gave(X, 1)] },
    { case: "gave one height, beside one that gave many", heard: [X, Y], before: [gave(X, 1), gave(Y, 8)] },
  ])("are those with first heights where another $case", ({ before, heard }) => {
    const tick = tickOf([...before, gave(Z, 2)], ...heard);

    expect(judgedAgain(tick).map((index) => tick.sources[index]?.key)).toEqual([Z]);
  });

  it.each([
    { case: "gave two heights", before: gave(X, 2) },
    { case: "gave many", before: gave(X, 8) },
    { case: "gave one after others, which are forgotten", before: gave(X, 1, { lastAdvanceMs: T0 }) },
    { case: "has jumped", before: gave(X, 1, { beforeJump: { samples: [], peak: null } }) },
  ])("are none where another $case", ({ before }) => {
    expect(judgedAgain(tickOf([before, gave(Z, 1)], X))).toEqual([]);
  });

  it.each<{ case: string; own: SourceState; isJudged: boolean }>([
    { case: "one height", own: gave(Z, 1), isJudged: true },
    { case: "three heights", own: gave(Z, 3), isJudged: false },
    {
      case: "a height after a jump",
      own: gave(Z, 1, { beforeJump: { samples: [], peak: null } }),
      isJudged: false,
    },
    { case: "a height, and failed since", own: gave(Z, 1, failedWith("timeout")), isJudged: false },
    { case: "an impossible height", own: gave(Z, 1, failedWith("implausible")), isJudged: true },
    { case: "a height, and none since", own: gave(Z, 1, failedWith("implausible", T0 + 1)), isJudged: false },
    { case: "no height", own: gave(Z, 0, { last: null }), isJudged: false },
  ])("include one that gave $case: $isJudged", ({ own, isJudged }) => {
    expect(judgedAgain(tickOf([own], X))).toEqual(isJudged ? [1] : []);
  });
});

describe("isTooEarly()", () => {
  const ok = { status: "ok", dissent: 0 } as const;

  it.each([
    { status: "lagging", own: gave(X, 1), isEarly: true },
    { status: "diverged", own: gave(X, 1), isEarly: true },
    { status: "diverged", own: gave(X, 0), isEarly: true },
    { status: "lagging", own: gave(X, 1, { verdict: ok }), isEarly: true },
    { status: "lagging", own: gave(X, 1, { verdict: { ...ok, status: "unreachable" } }), isEarly: false },
    { status: "lagging", own: gave(X, 2), isEarly: false },
    { status: "failed", own: gave(X, 1), isEarly: false },
    { status: "ok", own: gave(X, 1), isEarly: false },
  ] as const)("is $isEarly of $status where nothing is decided", ({ isEarly, own, status }) => {
    expect(isTooEarly(own, status, () => false)).toBe(isEarly);
    expect(isTooEarly(own, status, () => true)).toBe(false);
  });
});

describe("isDecided()", () => {
  const all = [gave(X, 1), gave(Y, 1), gave("rpc/base/0", 1)];

  it("is true once all have been asked, its RPC node too and whatever they answered", () => {
    const failed = [gave(X, 0, failedWith("timeout")), ...all.slice(1)];

    expect(isDecided(withHeard(tickOf(all, Z), Z), { members: [] })).toBe(true);
    expect(isDecided(withHeard(tickOf(failed, Z), Z), { members: [] })).toBe(true);
  });

  it.each([
    { case: "a target", before: all.slice(1) },
    { case: "the node", before: all.slice(0, 2) },
    { case: "one that was only cut off", before: [gave(X, 0, { last: null }), ...all.slice(1)] },
  ])("is false while $case has not been asked", ({ before }) => {
    expect(isDecided(withHeard(tickOf(before, Z), Z), { members: [] })).toBe(false);
  });

  it.each([
    { members: [X, Y], isOne: false },
    { members: [X, Y, Z], isOne: true },
    { members: [X, Y, "rpc/base/0"], isOne: true },
    { members: [X, Y, "of a former configuration"], isOne: true },
  ])("is $isOne where $members of four agree", ({ isOne, members }) => {
    expect(isDecided(withHeard(tickOf([], Z), Z), { members })).toBe(isOne);
  });
});

/** The tick after its answers were taken in. */
function withHeard(tick: Tick, key: string): Tick {
  return { ...tick, sources: tick.sources.map((source) => (source.key === key ? gave(key, 1) : source)) };
}
