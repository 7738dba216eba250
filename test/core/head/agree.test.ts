import { describe, expect, it } from "vitest";
import { agreeOnHead } from "../../../src/core/head/agree.ts";
import type { Claim } from "../../../src/core/head/claim.ts";
import { type ConfirmedHead, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";

/*
 * The rule for the head, sentence by sentence, on a chain with a block in 2 s whose head is block 1,000,000 now.
 */

const NOW_MS = 1_795_132_800_000;
const HEAD = 1_000_000;
const BLOCK_MS = 2_000;
const MINUTE = 30;

/** A source that advances, this many blocks behind the head (negative: ahead). `dated`: it reports the time of its block. */
function source(key: string, behind: number, own: Partial<Claim> & { readonly dated?: boolean } = {}): Claim {
  const { dated = false, ...rest } = own;
  return {
    key,
    provider: key,
    block: HEAD - behind,
    atMs: NOW_MS,
    slackMs: 0,
    timeMs: dated ? NOW_MS - Math.max(0, behind) * BLOCK_MS : null,
    advancedMs: NOW_MS,
    idleMs: 0,
    isFirst: false,
    isNode: false,
    hashed: [],
    freshUntilMs: NOW_MS + 300_000,
    ...rest,
  };
}

function decide(claims: readonly Claim[], confirmed: ConfirmedHead | null = null, proofs = {}) {
  const { consensus } = agreeOnHead(claims, {
    before: { ...NO_CONSENSUS, confirmed },
    proofs,
    pace: { intervalMs: BLOCK_MS, isMeasured: true, fastestMs: BLOCK_MS },
    laggingMs: 600_000,
    nowMs: NOW_MS,
  });
  const { head, opposed, sides } = consensus;
  return {
    behind: head === null ? null : HEAD - head.block,
    excluded: opposed.map(({ kind, source: key }) => `${key} ${kind}`),
    sides,
  };
}

function confirmedBefore(...members: readonly string[]): ConfirmedHead {
  return { block: HEAD - 2 * MINUTE, atMs: NOW_MS - 120_000, isDated: false, members };
}

describe("agreeOnHead(): 1. each source bounds the head from both sides", () => {
  it("a source with a block time bounds the head by what the chain can make since then at its fastest", () => {
    const late = source("late", 10 * MINUTE, { dated: true });

    expect(decide([late, source("v1", 0, { dated: true })])).toMatchObject({ behind: 0, excluded: [] });
    expect(decide([late, source("v1", 0), source("liar", -40 * MINUTE)]).excluded).toEqual(["liar ahead"]);
  });

  it("a source without a block time may have been 20 minutes late when it last advanced", () => {
    expect(decide([source("v0", 0), source("v1", 19 * MINUTE)])).toMatchObject({
      excluded: [],
      sides: [],
    });
    expect(decide([source("v0", 0), source("v1", 22 * MINUTE)]).sides).toEqual([["v0"], ["v1"]]);
  });

  it("a source that was never seen to advance gives no upper bound", () => {
    const frozen = { advancedMs: null };

    expect(
      decide([source("v0", 0), source("v1", 500_000, frozen), source("v2", 600_000, frozen)]),
    ).toMatchObject({
      behind: 0,
      excluded: [],
    });
  });

  it("a source at its first reply gives an upper bound if it is level with another provider", () => {
    const first = { advancedMs: null, isFirst: true };

    expect(
      decide([source("v0", 0, first), source("v1", 0, first), source("v2", -500_000, first)]),
    ).toMatchObject({
      behind: 0,
      excluded: ["v2 ahead"],
    });
  });
});

describe("agreeOnHead(): 2. the height that the fewest providers contradict is right", () => {
  it("sources of one provider count as one", () => {
    const liars = ["x", "y", "z"].map((key) => source(key, -500_000, { provider: "liar" }));

    expect(decide([...liars, source("v0", 0), source("v1", 0)])).toMatchObject({
      behind: 0,
      excluded: ["x ahead", "y ahead", "z ahead"],
    });
  });

  it("a new block of an RPC node decides between heights of equally many providers", () => {
    const node = source("node", 0, { dated: true, isNode: true });

    expect(decide([source("liar", -500_000), node])).toMatchObject({ behind: 0, excluded: ["liar ahead"] });
  });

  it("continuing from the last head decides between heights of equally many providers without an RPC node", () => {
    const claims = [source("v0", 0), source("v1", -500_000)];

    expect(decide(claims, confirmedBefore())).toMatchObject({ behind: 0, excluded: ["v1 ahead"] });
  });

  it("two sources that cannot both be right give no reference, and the sides are named", () => {
    expect(decide([source("v0", 0), source("v1", -500_000)])).toMatchObject({
      behind: null,
      sides: [["v0"], ["v1"]],
    });
  });

  it("an RPC node with a new block is not outvoted by sources without block times, which may be late", () => {
    const node = source("node", 0, { dated: true, isNode: true });

    expect(decide([node, source("v0", 262_289), source("v1", 262_289)])).toMatchObject({
      behind: 0,
      excluded: [],
    });
  });

  it("an RPC node is outvoted if its block cannot continue from a head that block times have shown", () => {
    const node = source("node", -30_000_000, { timeMs: NOW_MS, isNode: true });
    const claims = [node, source("v0", 0), source("v1", 0)];

    expect(decide(claims, { ...confirmedBefore("v0", "v1", "node"), isDated: true }).excluded).toEqual([
      "node ahead",
    ]);
  });

  it("a new block that continues from the head is not outvoted by sources that had reached that head", () => {
    const claims = [source("v0", 0, { dated: true }), source("v1", 60 * MINUTE), source("v2", 50 * MINUTE)];

    expect(decide(claims, confirmedBefore("v0", "v1", "v2"))).toMatchObject({ behind: 0, excluded: [] });
    expect(decide(claims).excluded).toEqual(["v0 ahead"]);
  });
});

describe("agreeOnHead(): 3. the head is the highest block that most of these expect at the usual pace", () => {
  it("sources agree without being level with each other", () => {
    const [three, six] = [3 * MINUTE, 6 * MINUTE];

    expect(decide([source("v0", 0), source("v1", three), source("v2", six)]).behind).toBe(0);
    expect(decide([source("v0", 0, { dated: true }), source("v1", three), source("v2", six)]).behind).toBe(0);
  });

  it("a block that the chain reaches only at its fastest pace is not the head", () => {
    const dated = ["v1", "v2"].map((key) => source(key, 0, { dated: true }));

    expect(decide([source("v0", -34), ...dated])).toMatchObject({ behind: 0, excluded: [] });
  });

  it("sources whose own blocks are not new do not outvote a new block that the chain can have reached", () => {
    const late = ["v1", "v2"].map((key) => source(key, 0, { timeMs: NOW_MS - 300_000, block: HEAD - 500 }));

    expect(decide([source("v0", 0, { dated: true }), ...late])).toMatchObject({ behind: 0, excluded: [] });
  });

  it("a single source gives no reference, unless it is an RPC node with a new block or continues from the last head", () => {
    expect(decide([source("v0", 0)]).behind).toBeNull();
    expect(decide([source("node", 0, { dated: true, isNode: true })]).behind).toBe(0);
    expect(decide([source("v0", 0)], confirmedBefore("v0")).behind).toBe(0);
  });
});

describe("agreeOnHead(): 4. a source is excluded if it is above the bounds of the others, or far below them with a new block", () => {
  it("a source that is merely lower is late, and not excluded", () => {
    expect(decide([source("v0", 0), source("v1", 0), source("v2", 90 * MINUTE)])).toMatchObject({
      behind: 0,
      excluded: [],
    });
  });

  it("a source with a new block far below is excluded: it is on another chain", () => {
    const other = source("other", 500_000, { timeMs: NOW_MS });

    expect(decide([other, source("v0", 0, { dated: true }), source("v1", 0)]).excluded).toEqual([
      "other ahead",
    ]);
  });

  it("a source is excluded if an RPC node disproves its hash", () => {
    const proof = { node: "node", block: HEAD, says: "other", text: "another hash" };
    const claims = [source("v0", 0), source("v1", 0), source("node", 0, { dated: true, isNode: true })];

    expect(decide(claims, null, { v0: proof }).excluded).toEqual(["v0 hash"]);
  });
});

describe("agreeOnHead(): 5. the last head does not fall by less than a minute, nor while an agreeing source shows it", () => {
  const lastHead = (behind: number) => ({
    ...NO_CONSENSUS,
    head: { block: HEAD - behind, reachedMs: 0, atMs: 0, slackMs: 0, freshUntilMs: 0 },
  });
  const fallsTo = (behind: number) =>
    HEAD -
    (agreeOnHead([source("v0", 0, { dated: true }), source("v1", 0, { dated: true })], {
      before: lastHead(behind),
      proofs: {},
      pace: { intervalMs: BLOCK_MS, isMeasured: true, fastestMs: BLOCK_MS },
      laggingMs: 600_000,
      nowMs: NOW_MS,
    }).consensus.head?.block ?? 0);

  it("the last head falls only with a rollback", () => {
    expect(fallsTo(-20)).toBe(-20);
    expect(fallsTo(-200)).toBe(0);
    expect(fallsTo(20)).toBe(0);
  });
});

it("agreeOnHead(): only sources with block times are named as contradicting a block time", () => {
  const off = { ...source("v0", 60 * MINUTE), timeMs: NOW_MS - 120_000 };
  const others = [source("v1", 0, { dated: true }), source("v2", 0), source("v3", 0)];

  expect(contradicting([off, ...others])).toEqual(["v1"]);
  expect(contradicting([off, ...others.slice(1)])).toEqual(["v2", "v3"]);
});

function contradicting(claims: readonly Claim[]): readonly string[] | undefined {
  const { consensus } = agreeOnHead(claims, {
    before: NO_CONSENSUS,
    proofs: {},
    pace: { intervalMs: BLOCK_MS, isMeasured: true, fastestMs: BLOCK_MS },
    laggingMs: 600_000,
    nowMs: NOW_MS,
  });
  return consensus.opposed[0]?.by;
}
