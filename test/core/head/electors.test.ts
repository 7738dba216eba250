import { describe, expect, it } from "vitest";
import { consensus, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { Voice } from "../../../src/core/head/voice.ts";
import { dated, NOW, PACE, voice } from "./head-fixture.ts";

const HEAD = 1_000_000;
const FAR = HEAD + 900_000;
const CHAIN = { pace: PACE, stalledAfterMs: 600_000 };

/** `s00`, `s01`, ...: each of its own provider unless told otherwise. */
function many(count: number, block: number, changed: Partial<Voice> & { readonly from?: number } = {}) {
  const { from = 0, ...rest } = changed;
  return Array.from({ length: count }, (_, index) =>
    voice(`s${String(from + index).padStart(2, "0")}`, block, rest),
  );
}

function agree(voices: readonly Voice[]) {
  const byKey = [...voices].sort((a, b) => (a.key < b.key ? -1 : 1));
  const { head, members, opposed } = consensus(byKey, NO_CONSENSUS, CHAIN);
  return { head: head?.block ?? null, members, opposed: opposed.map(({ source }) => source) };
}

describe("consensus() of more than sixteen sources", () => {
  it("is of all where there are sixteen", () => {
    const voices = [...many(7, FAR), ...many(9, HEAD, { from: 7 })];

    expect(agree(voices)).toMatchObject({ head: HEAD, opposed: many(7, FAR).map(({ key }) => key) });
  });

  it("is of the first sixteen by key, and tells whom of the others it opposes", () => {
    const voices = [...many(16, HEAD), ...many(20, FAR, { from: 16 })];

    const { head, members, opposed } = agree(voices);

    expect(head).toBe(HEAD);
    expect(members).toEqual(many(16, HEAD).map(({ key }) => key));
    expect(opposed).toEqual(many(20, FAR, { from: 16 }).map(({ key }) => key));
  });

  it("counts those of the others as members who stand level and contradict nobody", () => {
    const wrong = dated("s19", HEAD + 3, { ageMs: 500_000 });
    const voices = [
      ...many(16, HEAD).map((each) => dated(each.key, each.block)),
      voice("s17", HEAD + 5),
      voice("s18", HEAD - 400),
      wrong,
    ];

    const { members, opposed } = agree(voices);

    expect(members.slice(16)).toEqual(["s17"]);
    expect(opposed).toEqual(["s19"]);
  });

  it("has one of each provider before a second of any", () => {
    const host = many(20, FAR, { provider: "host" });
    const others = many(15, HEAD, { from: 20 });

    expect(agree([...host, ...others])).toMatchObject({
      head: HEAD,
      opposed: host.map(({ key }) => key),
    });
  });

  it("has a second of each provider where there are fewer than sixteen", () => {
    const one = many(9, FAR, { provider: "one" });
    const two = many(9, HEAD, { provider: "two", from: 9 });

    const { head } = agree([...one, ...two, dated("z", HEAD, { kind: "rpc", provider: "two" })]);

    expect(head).toBe(HEAD);
  });

  it("has the RPC nodes first", () => {
    const nodes = ["y", "z"].map((key) => dated(key, FAR, { kind: "rpc" }));
    const voices = [...many(16, HEAD).map((each) => dated(each.key, HEAD)), ...nodes];

    expect(agree(voices).opposed).toEqual(["y", "z"]);
    expect(agree([...many(16, HEAD, { age: "old", advancedMs: null }), ...nodes])).toMatchObject({
      head: FAR,
    });
  });
});

describe("consensus() that is known to nobody now", () => {
  const still = { atMs: NOW + 900_000, idleMs: 900_000, advancedMs: NOW, freshUntilMs: NOW + 1_200_000 };
  const before = consensus([voice("a", HEAD), voice("b", HEAD), voice("c", HEAD)], NO_CONSENSUS, CHAIN);

  it("keeps its members, but for those whom the others contradict", () => {
    const dates = { ...still, dated: { block: HEAD, timeMs: NOW }, timestampMs: NOW };
    const other = { ...dates, dated: { block: HEAD, timeMs: NOW - 500_000 }, timestampMs: NOW - 500_000 };

    const { head, members, opposed } = consensus(
      [voice("a", HEAD, dates), voice("b", HEAD, dates), voice("c", HEAD, other)],
      before,
      CHAIN,
    );

    expect(head?.block).toBe(HEAD);
    expect(members).toEqual(["a", "b"]);
    expect(opposed.map(({ source }) => source)).toEqual(["c"]);
  });

  it("has no head where there never was a track", () => {
    const lone = { ...NO_CONSENSUS, head: before.head };

    expect(consensus([voice("a", HEAD, still)], lone, CHAIN).head).toBe(null);
  });
});

describe("consensus(): what is told of an excluded source", () => {
  const level = [voice("a", HEAD), voice("b", HEAD + 2), voice("c", HEAD + 1)];

  it("is its newest height, and its distance to the highest of those who contradict it", () => {
    const sample = { timestampSec: null, hash: null, sentAtMs: NOW, receivedAtMs: NOW };
    const liar = voice("x", FAR, {
      samples: [
        { ...sample, block: FAR },
        { ...sample, block: FAR - 5 },
      ],
    });

    expect(consensus([...level, liar], NO_CONSENSUS, CHAIN).opposed).toEqual([
      {
        source: "x",
        kind: "ahead",
        by: expect.arrayContaining(["a", "b", "c"]),
        block: FAR - 5,
        blocks: FAR - 5 - (HEAD + 2),
        offMs: null,
      },
    ]);
  });

  it("is only that it is below, where it claims nothing that cannot be", () => {
    const high = [dated("a", FAR), dated("b", FAR), dated("c", FAR)];
    const low = voice("x", HEAD, { advancedMs: NOW });
    const company = voice("y", HEAD, { advancedMs: NOW });

    const { opposed } = consensus([...high, low, company], NO_CONSENSUS, CHAIN);

    expect(opposed.map(({ source, kind }) => `${source} ${kind}`)).toEqual(["x below", "y below"]);
  });
});
