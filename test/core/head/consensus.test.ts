import { describe, expect, it } from "vitest";
import { type Consensus, consensus, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { dated, NOW, PACE, voice } from "./head-fixture.ts";

const CHAIN = { pace: PACE, stalledAfterMs: 600_000 };

function agree(voices: readonly Voice[], before: Consensus = NO_CONSENSUS) {
  const { head, members, opposed, undecided } = consensus(voices, before, CHAIN);
  return {
    head: head?.block ?? null,
    members,
    opposed: opposed.map(({ source, kind }) => `${source} ${kind}`),
    undecided,
  };
}

/** What was agreed while these stood level at 1,000,000. */
function afterLevel(...keys: readonly string[]): Consensus {
  return consensus(
    keys.map((key) => voice(key, 1_000_000)),
    NO_CONSENSUS,
    CHAIN,
  );
}

describe("consensus()", () => {
  it("believes those who stand level, however far above them one is", () => {
    expect(agree([voice("a", 1_000_000), voice("b", 1_000_002), voice("c", 1_005_000)])).toEqual({
      head: 1_000_002,
      members: ["a", "b"],
      opposed: ["c ahead"],
      undecided: [],
    });
  });

  it("takes a lower height for lag, and accuses nobody of it", () => {
    expect(agree([voice("a", 1_000_000), voice("b", 1_000_002), voice("c", 900_000)])).toMatchObject({
      head: 1_000_000,
      members: ["a", "b"],
      opposed: [],
    });
  });

  it("takes the higher of two that are merely apart", () => {
    expect(agree([voice("a", 1_000_000), voice("b", 990_000)])).toMatchObject({
      head: 1_000_000,
      opposed: [],
    });
  });

  it("excludes one whose block times cannot be of this chain, be it higher or lower", () => {
    expect(agree([dated("a", 1_000_000), dated("b", 1_000_002), dated("c", 40_000)])).toMatchObject({
      head: 1_000_002,
      opposed: ["c times"],
    });
  });

  it("counts providers before sources, for those behind one host fail together", () => {
    const host = { provider: "host" };
    const liars = [voice("a", 1_500_000, host), voice("b", 1_500_001, host), voice("c", 1_500_002, host)];

    expect(agree([...liars, voice("d", 1_000_000), voice("e", 1_000_001)])).toMatchObject({
      head: 1_000_001,
      opposed: ["a ahead", "b ahead", "c ahead"],
    });
  });

  it("decides nothing where sets of equal weight contradict each other, and says who they are", () => {
    expect(agree([dated("a", 1_000_000), dated("b", 1_500_000)])).toEqual({
      head: null,
      members: [],
      opposed: [],
      undecided: [["a"], ["b"]],
    });
  });

  it("goes by the others where two contradict only each other, if the others have more providers", () => {
    const disputed = [dated("x", 999_900), dated("y", 1_000_100)];

    expect(agree([voice("a", 1_000_000), voice("b", 1_000_000), voice("c", 1_000_000), ...disputed])).toEqual(
      {
        head: 1_000_000,
        members: ["a", "b", "c"],
        opposed: [],
        undecided: [],
      },
    );
    expect(agree([voice("a", 1_000_000), voice("b", 1_000_000), ...disputed])).toMatchObject({
      head: null,
      undecided: [["x"], ["y"]],
    });
  });

  it("breaks such a tie by an RPC node whose block is fresh", () => {
    expect(agree([dated("a", 1_000_000), dated("b", 1_500_000, { kind: "rpc" })])).toMatchObject({
      head: 1_500_000,
      opposed: ["a times"],
    });
  });

  it("breaks such a tie by the track", () => {
    const before = afterLevel("a", "b");

    expect(agree([voice("a", 1_000_000), voice("b", 30_000_000)], before)).toMatchObject({
      head: 1_000_000,
      opposed: ["b ahead"],
    });
  });

  it("doubts a lone RPC node where two providers that agree and advance stand elsewhere", () => {
    const node = dated("rpc", 2_000_000, { kind: "rpc" });

    expect(agree([voice("a", 1_000_000), voice("b", 1_000_001), node])).toMatchObject({
      head: 1_000_001,
      opposed: ["rpc ahead"],
    });
  });

  it("believes an RPC node alone where the others do not stand together", () => {
    const node = dated("rpc", 1_000_600, { kind: "rpc" });

    expect(agree([voice("a", 1_000_000), node])).toMatchObject({ head: 1_000_600, opposed: [] });
  });

  it("follows the one that goes on at the known pace while all others fall back", () => {
    const before = afterLevel("a", "b", "c");
    const later = { atMs: NOW + 600_000, advancedMs: NOW + 600_000 };

    const voices = [voice("a", 1_000_300, later), voice("b", 1_000_000, later), voice("c", 1_000_000, later)];

    expect(agree(voices, before)).toMatchObject({ head: 1_000_300, members: ["a"], opposed: [] });
  });

  it("does not follow one on the track where the others were never on it", () => {
    const before = afterLevel("a", "x");
    const later = { atMs: NOW + 15_000, advancedMs: NOW + 15_000 };

    const voices = [voice("a", 1_000_007, later), voice("b", 900_000, later), voice("c", 900_001, later)];

    expect(agree(voices, before)).toMatchObject({ head: 900_001, opposed: ["a ahead"] });
  });

  it("does not take the head from one that was heard long ago for an excluded one far above", () => {
    const slow = { atMs: NOW - 1_800_000, advancedMs: NOW - 1_800_000, pollIntervalMs: 1_800_000 };
    const lost = { atMs: NOW - 110_000, advancedMs: NOW - 110_000 };

    const voices = [
      voice("a", 1_000_000),
      voice("b", 1_000_000),
      voice("lost", 999_946, lost),
      voice("slow", 999_101, slow),
    ];

    expect(agree([...voices, voice("liar", 1_088_000)])).toMatchObject({
      head: 1_000_000,
      opposed: ["liar ahead"],
    });
  });

  it.each([-15_000, -5_000, 0, 5_000, 15_000])(
    "excludes one that is too far ahead at whichever moment of a round it is asked: %i ms later",
    (ms) => {
      const later = { atMs: NOW + ms, advancedMs: NOW + ms };
      const agreed = (ahead: number) =>
        agree([
          voice("a", 1_000_000),
          voice("b", 1_000_000),
          voice("c", 1_000_000 + Math.floor(ms / 2_000) + ahead, later),
        ]).opposed;

      expect(agreed(155)).toEqual([]);
      expect(agreed(165)).toEqual(["c ahead"]);
    },
  );

  it("holds the head while all stand still for longer than any block takes", () => {
    const before = afterLevel("a", "b");
    const still = { atMs: NOW + 900_000, idleMs: 900_000, freshUntilMs: NOW + 1_200_000 };

    const { head } = consensus([voice("a", 1_000_000, still), voice("b", 1_000_000, still)], before, CHAIN);

    expect(head).toMatchObject({ block: 1_000_000, atMs: NOW + 900_000, freshUntilMs: NOW + 1_200_000 });
  });

  it("knows no head of nobody, nor of one alone", () => {
    expect(agree([])).toMatchObject({ head: null, undecided: [] });
    expect(agree([voice("a", 1_000_000)])).toMatchObject({ head: null, undecided: [] });
  });

  it("contradicts nothing by the time of the first block after a halt", () => {
    const voices = [
      dated("a", 1_000_000, { ageMs: 2_400_000 }),
      dated("b", 1_000_000, { ageMs: 2_400_000 }),
      dated("c", 1_000_001),
    ];

    expect(agree(voices)).toMatchObject({ opposed: [], undecided: [] });
  });
});
