import { describe, expect, it } from "vitest";
import { type Relation, relationsBetween, relationsOf } from "../../../src/core/head/relations.ts";
import type { Scene } from "../../../src/core/head/scene.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { dated, heard, NOW, sceneOf, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;
/** The most blocks that the chain can have made since a source advanced that was heard just now. */
const MOST = 16 + (4 * 75_000 - 15_000) / 2_000;

function told(relations: readonly Relation[]): readonly string[] {
  return relations.map(({ low, high, kind }) => `${low.key} ${high.key} ${kind}`);
}

function opposed(voices: readonly Voice[], changed: Partial<Scene> = {}): readonly string[] {
  return told(relationsOf(sceneOf(voices, changed)));
}

/** The same source with these hashes of the blocks from `HEAD` on; "-": none. */
function withHashes(source: Voice, hashes: string): Voice {
  const samples = [...hashes].map((hash, index) => ({
    block: HEAD + index,
    timestampSec: null,
    hash: hash === "-" ? null : hash,
    sentAtMs: NOW,
    receivedAtMs: NOW,
  }));
  return { ...source, block: HEAD + hashes.length - 1, samples };
}

describe("relationsOf(): one too far ahead", () => {
  it("opposes one at the head that has company, and all its company", () => {
    const level = [voice("a", HEAD), voice("b", HEAD)];

    expect(opposed([...level, voice("c", HEAD + MOST)])).toEqual([]);
    expect(opposed([...level, voice("c", HEAD + MOST + 1)])).toEqual([
      "a c ahead",
      "b c ahead",
      "b c ahead",
      "a c ahead",
    ]);
  });

  it("draws in those who stand level with one side, and not with the other", () => {
    const voices = [voice("a", HEAD), voice("b", HEAD + 20), voice("c", HEAD + MOST + 10)];

    expect(new Set(opposed(voices))).toEqual(new Set(["a c ahead", "b c ahead"]));
    expect(opposed([...voices, voice("d", HEAD + MOST + 5)])).toContain("b d ahead");
  });

  it("counts from when the lower one advanced last", () => {
    const before = { advancedMs: NOW - 30_000 };
    const level = [voice("a", HEAD, before), voice("b", HEAD, before)];
    const most = 16 + (4 * 90_000) / 2_000;

    expect(opposed([...level, voice("c", HEAD + most)])).toEqual([]);
    expect(opposed([...level, voice("c", HEAD + most + 1)])).toContain("a c ahead");
  });

  it("counts from the block's own time where that is fresh, with or without company", () => {
    const fresh = dated("a", HEAD, { ageMs: 30_000, advancedMs: null });
    const most = 16 + (4 * 90_000) / 2_000;

    expect(opposed([fresh, voice("c", HEAD + most)])).toEqual([]);
    expect(opposed([fresh, voice("c", HEAD + most + 1)])).toEqual(["a c ahead"]);
  });

  const far = voice("c", HEAD + 900);
  const b = voice("b", HEAD);

  it.each([
    { case: "is alone", sources: [voice("a", HEAD)] },
    {
      case: "has company behind the same host only",
      sources: [voice("a", HEAD), voice("b", HEAD, { provider: "a" })],
    },
    {
      case: "has company that never advanced",
      sources: [voice("a", HEAD), voice("b", HEAD, { advancedMs: null })],
    },
    {
      case: "has company that is behind by its own word",
      sources: [voice("a", HEAD), dated("b", HEAD, { ageMs: 900_000 })],
    },
    { case: "has no company at its height", sources: [voice("a", HEAD), voice("b", HEAD - 31)] },
  ])("opposes nobody that $case", ({ sources }) => {
    expect(opposed([...sources, far])).toEqual([]);
  });

  it.each([
    { case: "never advanced", changed: { advancedMs: null } },
    { case: "back-fills", changed: { isBackfilling: true } },
    { case: "is behind by its own word", changed: { age: "old" } },
  ] as const)("opposes nobody that $case", ({ changed }) => {
    expect(opposed([voice("a", HEAD, changed), { ...b, ...changed }, far])).toEqual([]);
  });

  it("opposes nobody that goes at another pace, nor has that one's company any weight", () => {
    const a = voice("a", HEAD);

    expect(opposed([a, b, far], { unsteady: new Set([a, b]) })).toEqual([]);
    expect(opposed([a, b, far], { unsteady: new Set([b]) })).toEqual([]);
  });

  describe("beside the track", () => {
    const track = { block: HEAD - 500, atMs: NOW - 1_000_000, intervalMs: 2_000, members: ["a", "b"] };

    it("opposes one on it, alone as it is", () => {
      expect(opposed([voice("a", HEAD), far], { track })).toEqual(["a c ahead"]);
    });

    it("opposes nobody that fell back from it while another goes on", () => {
      const fallen = [voice("b", HEAD - 400), voice("d", HEAD - 400)];
      const all = { ...track, members: ["a", "b", "d"] };
      const goesOn = voice("a", HEAD);

      expect(opposed([goesOn, ...fallen], { track: all })).toEqual([]);
      expect(opposed([goesOn, ...fallen], { track })).toContain("b a ahead");
      expect(opposed([voice("x", HEAD), ...fallen], { track: all })).toContain("b x ahead");
      expect(opposed([goesOn, ...fallen])).toContain("b a ahead");
    });
  });
});

describe("relationsOf(): block times", () => {
  const at = (key: string, block: number, timeMs: number) =>
    voice(key, block, { dated: { block, timeMs }, timestampMs: timeMs });
  const a = at("a", HEAD, NOW - 600_000);

  it.each([
    { case: "one block at two times", block: HEAD, afterMs: 120_000 },
    { case: "a later block at an earlier time", block: HEAD + 1, afterMs: -120_000 },
    { case: "an earlier block at a later time", block: HEAD - 1, afterMs: 120_000 },
  ])("oppose by $case, if two minutes lie between", ({ block, afterMs }) => {
    const more = Math.sign(afterMs);

    expect(opposed([a, at("b", block, NOW - 600_000 + afterMs)])).toEqual([]);
    expect(opposed([a, at("b", block, NOW - 600_000 + afterMs + more)])).toHaveLength(1);
  });

  it("oppose by more blocks than the chain can have made between", () => {
    const most = 16 + (4 * 90_000) / 2_000;

    expect(opposed([a, at("b", HEAD + most, NOW - 570_000)])).toEqual([]);
    expect(opposed([a, at("b", HEAD + most + 1, NOW - 570_000)])).toEqual(["a b times"]);
    expect(opposed([at("b", HEAD + most + 1, NOW - 570_000), a])).toEqual(["a b times"]);
  });

  it("do not oppose where few blocks took long, for chains halt", () => {
    expect(opposed([a, at("b", HEAD + 1, NOW)])).toEqual([]);
  });

  it("tell by how much one is off, where the pace is known", () => {
    const offMs = (changed: Partial<Scene> = {}) =>
      relationsOf(sceneOf([a, at("b", HEAD + 900, NOW - 580_000)], changed))[0]?.offMs;
    const unknown = { intervalMs: null, measured: false };
    const beyond = [a, at("b", HEAD + 90_000, NOW - 580_000)];

    expect(offMs()).toBe(1_780_000);
    expect(relationsOf(sceneOf(beyond, { pace: unknown }))[0]).toMatchObject({ kind: "times", offMs: null });
  });

  it("tell nothing where one has none", () => {
    const relations = relationsOf(sceneOf([voice("a", HEAD), voice("b", HEAD), voice("c", HEAD + 900)]));

    expect(relations[0]).toMatchObject({ kind: "ahead", offMs: null });
  });
});

describe("relationsOf(): hashes", () => {
  const one = (key: string, hashes: string) => withHashes(voice(key, HEAD), hashes);

  it.each([
    { case: "differ at the last two heights that both have", a: "xy", b: "zw", is: true },
    { case: "differ at one height alone, which may be a reorg at the tip", a: "xy", b: "xw", is: false },
    { case: "differed once and agree again", a: "qxy", b: "zxy", is: false },
    { case: "agree at the older of the last two", a: "qxy", b: "zxw", is: false },
    { case: "are known at one height only", a: "-y", b: "zw", is: false },
    { case: "differ at two heights with one between that only one has", a: "x-y", b: "zvw", is: true },
    { case: "are equal", a: "xy", b: "xy", is: false },
    { case: "are unknown to one", a: "--", b: "zw", is: false },
  ])("oppose or not where they $case: $is", ({ a, b, is }) => {
    const relations = opposed([one("a", a), one("b", b)]);

    expect(relations).toEqual(is ? ["a b hash"] : []);
  });

  it("draw nobody else in: who has none contradicts nobody", () => {
    expect(opposed([one("a", "xy"), one("b", "zw"), voice("c", HEAD)])).toEqual(["a b hash"]);
  });

  it("do not oppose once the newest of one is confirmed by a third that is on the other's fork", () => {
    const [back, other] = [one("back", "xyv"), one("other", "zw-")];

    expect(opposed([back, other])).toHaveLength(1);
    expect(opposed([back, other, one("third", "zwv")])).toEqual([]);
    expect(opposed([back, other, one("third", "xyv")])).toHaveLength(2);
  });

  it("are no confirmation by a hash that the third lacks", () => {
    const [back, other] = [one("back", "xy-"), one("other", "zw-")];

    expect(opposed([back, other, one("third", "zw-")])).toContain("back other hash");
  });
});

describe("relationsBetween()", () => {
  const between = (voices: readonly Voice[], others: readonly Voice[]) =>
    told(relationsBetween(voices, others, sceneOf([...voices, ...others])));

  it("compares each of the ones with each of the others, and not the others among themselves", () => {
    const decided = [dated("a", HEAD), dated("b", HEAD)];

    expect(between(decided, [dated("x", HEAD + 900), dated("y", HEAD + 9_000)])).toEqual([
      "a x times",
      "a y times",
      "b x times",
      "b y times",
    ]);
    expect(between(decided, [dated("x", HEAD + 9)])).toEqual([]);
  });

  it("compares hashes, too", () => {
    const [a, x] = [withHashes(voice("a", HEAD), "xy"), withHashes(voice("x", HEAD), "zw")];

    expect(between([a], [x])).toEqual(["a x hash"]);
    expect(between([a], [heard(1, withHashes(voice("x", HEAD), "xy"))])).toEqual([]);
  });
});
