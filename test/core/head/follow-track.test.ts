import { describe, expect, it } from "vitest";
import { chooseHead } from "../../../src/core/head/choose-head.ts";
import type { Scene, Track } from "../../../src/core/head/scene.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { dated, NOW, sceneOf, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;
/** A minute ago `a`, `b` and `c` stood level; it leads to `HEAD` now. */
const TRACK: Track = {
  block: HEAD - 30,
  atMs: NOW - 60_000,
  intervalMs: 2_000,
  members: ["a", "b", "c"],
};

function follow(voices: readonly Voice[], changed: Partial<Scene> = {}) {
  const { chosen, track } = chooseHead(voices, sceneOf(voices, { track: TRACK, ...changed }));
  return { chosen: chosen?.key ?? null, track };
}

describe("chooseHead() without a track", () => {
  it("begins one where two stand level", () => {
    expect(follow([voice("a", HEAD), voice("b", HEAD + 1)], { track: null }).track).toEqual({
      block: HEAD + 1,
      atMs: NOW,
      intervalMs: 2_000,
      members: ["a", "b"],
    });
  });

  it("begins none with one alone", () => {
    const sources = [voice("a", HEAD), voice("b", HEAD + 500)];

    expect(follow(sources, { track: null })).toEqual({ chosen: "b", track: null });
  });
});

describe("chooseHead() on the track", () => {
  it("carries it on to the new head", () => {
    expect(follow([voice("a", HEAD), voice("b", HEAD + 1)])).toEqual({
      chosen: "b",
      track: { ...TRACK, block: HEAD + 1, atMs: NOW },
    });
  });

  it("keeps the pace that is known now", () => {
    const pace = { intervalMs: 2_100, measured: true };

    expect(follow([voice("a", HEAD), voice("b", HEAD)], { pace }).track).toMatchObject({ intervalMs: 2_100 });
  });

  it("lets those join it who stand level, once", () => {
    const { track } = follow([voice("a", HEAD), voice("b", HEAD), voice("x", HEAD)]);

    expect(track?.members).toEqual(["a", "b", "c", "x"]);
  });

  it("stays where it was while one is clearly ahead of the others, which may be falling back", () => {
    const ahead = (blocks: number) => follow([voice("a", HEAD + blocks), voice("b", HEAD), voice("c", HEAD)]);

    expect(ahead(2)).toEqual({ chosen: "b", track: { ...TRACK, block: HEAD, atMs: NOW } });
    expect(ahead(2.5)).toEqual({ chosen: "b", track: { ...TRACK, block: HEAD, atMs: NOW } });
    expect(ahead(3)).toEqual({ chosen: "b", track: TRACK });
  });

  it("takes a block and a half for clearly ahead on slow chains, and where nobody knows the pace", () => {
    const slow = { ...TRACK, block: HEAD - 5, intervalMs: 12_000 };
    const pace = { intervalMs: 12_000, measured: true };
    const sources = (blocks: number) => [voice("a", HEAD + blocks), voice("b", HEAD), voice("c", HEAD)];

    expect(follow(sources(1), { track: slow, pace }).track?.atMs).toBe(NOW);
    expect(follow(sources(2), { track: slow, pace }).track).toBe(slow);
  });

  it("counts nobody as ahead who is off the track, or was never on it", () => {
    expect(follow([voice("a", HEAD + 6), voice("b", HEAD), voice("c", HEAD)]).track?.atMs).toBe(NOW);
    expect(follow([voice("x", HEAD + 3), voice("b", HEAD), voice("c", HEAD)]).track?.atMs).toBe(NOW);
  });

  describe("while one has not been asked since the last head", () => {
    const level = [voice("b", HEAD), voice("c", HEAD)];
    const unheard = (changed: Partial<Voice> = {}) => [
      voice("a", HEAD - 31, { atMs: TRACK.atMs - 1, ...changed }),
      ...level,
    ];
    const carriedOn = { ...TRACK, block: HEAD, atMs: NOW };

    it("stays where it was, for that one may be the only one that goes on", () => {
      expect(follow(unheard()).track).toEqual(TRACK);
      expect(follow(unheard({ pollIntervalMs: 30_000 })).track).toEqual(TRACK);
    });

    it("goes on if that one was on time", () => {
      expect(follow(unheard({ atMs: TRACK.atMs })).track).toEqual(carriedOn);
    });

    it("goes on if that one is asked less than half as often as the others", () => {
      expect(follow(unheard({ pollIntervalMs: 30_001 })).track).toEqual(carriedOn);
    });

    it("goes on if that one was never on it", () => {
      expect(follow(unheard({ key: "x" })).track).toMatchObject({ block: HEAD, atMs: NOW });
    });
  });
});

describe("chooseHead() where most stand below the track", () => {
  const fallen = [voice("b", HEAD - 20), voice("c", HEAD - 20)];

  it("follows the one that goes on, if all others fell back from the track", () => {
    expect(follow([voice("a", HEAD), ...fallen])).toEqual({
      chosen: "a",
      track: { ...TRACK, block: HEAD, atMs: NOW },
    });
  });

  it("follows the majority, if one of it was never on the track", () => {
    const others = [voice("b", HEAD - 100), voice("x", HEAD - 100)];

    expect(follow([voice("a", HEAD), ...others])).toMatchObject({
      chosen: "b",
      track: { block: HEAD - 100, members: ["b", "x"] },
    });
  });

  it("follows the majority and begins a new track, if nobody goes on", () => {
    expect(follow(fallen)).toEqual({
      chosen: "b",
      track: { block: HEAD - 20, atMs: NOW, intervalMs: 2_000, members: ["b", "c"] },
    });
  });

  it("keeps the old track until all who were on it have been asked", () => {
    const unheard = voice("a", HEAD - 71, { atMs: TRACK.atMs - 1 });

    expect(follow([unheard, ...fallen])).toEqual({ chosen: "b", track: TRACK });
  });

  it("believes one alone that was on the track, and leaves the track where it was", () => {
    const sources = [voice("b", HEAD - 900), voice("y", HEAD - 2_000, { age: "old" })];

    expect(follow(sources)).toEqual({ chosen: "b", track: TRACK });
  });
});

describe("chooseHead() where most stand above the track", () => {
  it("follows them, and begins a new track", () => {
    expect(follow([voice("x", HEAD + 100), voice("y", HEAD + 100), voice("a", HEAD)])).toEqual({
      chosen: "x",
      track: { block: HEAD + 100, atMs: NOW, intervalMs: 2_000, members: ["x", "y"] },
    });
  });

  describe("one alone", () => {
    const member = voice("a", HEAD, { age: "old" });
    const stranger = voice("z", HEAD, { age: "old" });

    it("is not believed while one of the track is there, if it never was on it", () => {
      expect(follow([voice("x", HEAD + 100), member])).toEqual({ chosen: null, track: TRACK });
    });

    it("is believed if it was on the track, or none of those that are there was", () => {
      expect(follow([voice("b", HEAD + 100), member])).toEqual({ chosen: "b", track: TRACK });
      expect(follow([voice("x", HEAD + 100), stranger])).toEqual({ chosen: "x", track: TRACK });
    });

    it("is believed if it is an RPC node whose block is fresh", () => {
      const node = dated("rpc", HEAD + 100, { kind: "rpc" });

      expect(follow([node, member])).toEqual({ chosen: "rpc", track: TRACK });
    });
  });
});
