import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "../chain/chain-fixture.ts";

const [A, B, C, D] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
const RPC = "rpc/base/0";
const MINUTE = 60_000;

type Offsets = Readonly<Record<string, number>>;

/** Every source so many blocks from the head. */
function at(offsets: Offsets): (tick: { readonly nowMs: number }) => Readonly<Record<string, Said>> {
  return ({ nowMs }) =>
    Object.fromEntries(Object.entries(offsets).map(([source, offset]) => [source, headOf(nowMs) + offset]));
}

/** An RPC node with the timestamp of its block. */
function node(nowMs: number, offset = 0): Said {
  return { block: headOf(nowMs) + offset, timestampSec: Math.floor(nowMs / 2_000) * 2 };
}

function offHead(play: Play): number | null {
  const { reference } = play.report();
  return reference === null ? null : reference.block - headOf(play.nowMs);
}

describe("reference head", () => {
  it.each([
    { case: "one source: none", offsets: { [A]: 0 }, off: null, sources: undefined },
    { case: "two: the higher", offsets: { [A]: 0, [B]: -400 }, off: 0, sources: 1 },
    { case: "three: the second highest", offsets: { [A]: 3, [B]: -2, [C]: -400 }, off: -2, sources: 2 },
    { case: "four: the second highest", offsets: { [A]: 3, [B]: -2, [C]: -5, [D]: -7 }, off: -2, sources: 4 },
  ])("of $case", ({ offsets, off, sources }) => {
    const play = new Play(watch(BASE, A, B, C, D)).run(5, at(offsets));

    expect(offHead(play)).toBe(off);
    expect(play.report().reference?.sources).toBe(sources);
  });

  it("counts a source of another protocol and tier as well", () => {
    const play = new Play(watch(BASE, A, "flow/subgraph/testing"));

    play.run(3, at({ [A]: -300, "flow/subgraph/testing": 0 }));

    expect(offHead(play)).toBe(0);
  });

  it.each([
    { case: "of three", watched: [A, B, C], honest: { [B]: 0, [C]: 0 } },
    { case: "of two", watched: [A, B], honest: { [B]: 0 } },
  ])("is not moved by one liar $case, for however long it lies", ({ watched, honest }) => {
    const play = new Play(watch(BASE, ...watched)).run(10, at({ [A]: 0, ...honest }));

    play.run(40, at({ [A]: 30_000_000, ...honest }));

    expect(offHead(play)).toBe(0);
    expect(play.target(A).status).toBe("diverged");
    expect(play.target(B)).toMatchObject({ status: "ok", lagBlocks: 0 });
  });

  it("is not moved by a liar that has lied from the first", () => {
    const play = new Play(watch(BASE, A, B, C)).run(4, at({ [A]: 30_000_000, [B]: 0, [C]: 0 }));

    expect(offHead(play)).toBe(0);
    expect(play.target(A)).toMatchObject({ status: "diverged", lagBlocks: null });
  });

  it("stays unknown where two first answers contradict each other by their own block times", () => {
    const play = new Play(watch(BASE, A, B));

    play.run(1, ({ nowMs }) => ({
      [A]: { block: 1_000_000, timestampSec: nowMs / 1_000 },
      [B]: { block: 31_000_000, timestampSec: nowMs / 1_000 },
    }));

    expect(play.report()).toMatchObject({
      reference: null,
      standings: [
        { source: expect.stringContaining(A), block: 1_000_000, stands: "disputed", detail: "side 1" },
        { source: expect.stringContaining(B), block: 31_000_000, stands: "disputed", detail: "side 2" },
      ],
    });
    expect(play.target(A).detail).toMatch(
      /multichain \(block 1,000,000\) and subgraph \(block 31,000,000\) contradict each other by \d+ d( \d+ h)? of block time, 30,000,000 blocks apart/u,
    );
  });

  it("says where each source stands: with the reference, excluded and why, or apart from it", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(
      4,
      at({ [A]: 30_000_000, [B]: 0, [C]: 0, [D]: -5_000 }),
    );

    const head = headOf(play.nowMs);
    expect(play.report().standings).toMatchObject([
      {
        block: head + 30_000_000,
        stands: "excluded",
        detail: expect.stringMatching(/^claims block [\d,]+, 30,000,000 beyond what /u),
      },
      { block: head, stands: "agrees", detail: null },
      { block: head, stands: "agrees", detail: null },
      { block: head - 5_000, stands: "apart", detail: null },
    ]);
  });

  it("follows a true jump within two polls of the second source that joins it", () => {
    const play = new Play(watch(BASE, A, B, C)).run(10, at({ [A]: 0, [B]: 0, [C]: 0 }));
    play.run(1, at({ [A]: 50_000, [B]: 0, [C]: 0 }));

    play.run(2, at({ [A]: 50_000, [B]: 50_000, [C]: 0 }));

    expect(offHead(play)).toBe(50_000);
    expect(play.target(A).status).toBe("ok");
    expect(play.target(B).status).toBe("ok");
  });

  it.each([
    { case: "with block times", reportsTimes: true },
    { case: "without", reportsTimes: false },
  ])(
    "is not carried away by another, faster chain whose heights pass this one's, $case",
    ({ reportsTimes }) => {
      const play = new Play(watch(BASE, A, B, C, D));
      const fromMs = play.nowMs;
      const passing = (nowMs: number) => {
        const block = headOf(nowMs) - 450 + Math.floor((nowMs - fromMs) / 2_000);
        return reportsTimes ? { block, timestampSec: nowMs / 1_000 } : block;
      };

      for (let tick = 0; tick < 120; tick += 1) {
        play.run(1, ({ nowMs }) => ({ [D]: passing(nowMs) }), 5_000);
        play.run(1, at({ [A]: 0, [B]: 0, [C]: 0 }), 10_000);
        expect(offHead(play)).toBe(0);
      }

      expect(play.report().blockIntervalMs).toBeCloseTo(2_000, -2);
      expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "diverged"]);
    },
  );

  it("goes back where a false jump that most joined is taken back", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(10, at({ [A]: 0, [B]: 0, [C]: 0, [D]: 0 }));
    play.run(6, at({ [A]: 30_000_000, [B]: 30_000_000, [C]: 30_000_000, [D]: 0 }));
    expect(offHead(play)).toBe(30_000_000);

    play.run(6, at({ [A]: 0, [B]: 0, [C]: 0, [D]: 0 }));

    expect(offHead(play)).toBe(0);
    expect(play.target(D)).toMatchObject({ status: "ok", lagBlocks: 0 });
    expect(play.report().blockIntervalMs ?? 2_000).toBeCloseTo(2_000, -2);
  });

  it("stays on its track where as many jump as go on", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(10, at({ [A]: 0, [B]: 0, [C]: 0, [D]: 0 }));

    play.run(6, at({ [A]: 30_000_000, [B]: 30_000_000, [C]: 0, [D]: 0 }));

    expect(offHead(play)).toBe(0);
    expect(play.report().targets.map(({ status }) => status)).toEqual(["diverged", "diverged", "ok", "ok"]);
  });

  it("does not fall to the laggards until the leaders' last answers are stale", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(10, at({ [A]: 0, [B]: 0, [C]: -3_000, [D]: -3_000 }));

    play.run(8, at({ [C]: -3_000, [D]: -3_000 }));

    expect(offHead(play)).toBeGreaterThan(-100);
    expect(play.target(C).status).toBe("lagging");
    play.run(20, at({ [C]: -3_000, [D]: -3_000 }));
    expect(offHead(play)).toBe(-3_000);
  });

  it("does not take back-filling targets for the head, even when they are the majority", () => {
    const play = new Play(watch(BASE, A, B, C));

    play.run(6, ({ nowMs, index }) => ({
      [A]: headOf(nowMs),
      [B]: 10_000 + index * 7_500,
      [C]: 5_000 + index * 7_500,
    }));

    expect(offHead(play)).toBe(0);
    expect(play.target(A).status).toBe("ok");
    expect(play.target(B).status).toBe("syncing");
    expect(play.target(C).status).toBe("syncing");
  });

  it("goes on where the chain itself bursts to nine times its pace, and nobody is said to catch up", () => {
    const fast = { ...BASE, blockTimeMs: 500 };
    const play = new Play(watch(fast, A, B, C)).run(40, ({ nowMs }) => all(headOf(nowMs, 500)));
    const [fromMs, from] = [play.nowMs, headOf(play.nowMs, 500)];

    for (let tick = 0; tick < 40; tick += 1) {
      play.run(1, ({ nowMs }) => all(from + Math.floor(((nowMs - fromMs) * 9) / 500)));
      expect(play.report().reference).not.toBeNull();
      expect([A, B, C].map((name) => play.target(name).status)).toEqual(["ok", "ok", "ok"]);
    }
  });

  it("is not taken from the laggard that answers first in a round", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(20, at({ [A]: 0, [B]: 0, [C]: 0, [D]: -4 }));
    const before = play.report().reference?.block;

    play.run(1, at({ [D]: -4 }));

    expect(play.report().reference?.block).toBe(before);
    // Nobody has shown a newer block yet.
    expect(play.target(D).lagBlocks).toBe(0);
    play.wait(-15_000).run(1, at({ [A]: 0, [B]: 0, [C]: 0 }));
    expect(play.target(D).lagBlocks).toBe(4);
  });

  it("goes on with those who answer where as many have fallen silent", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(20, at({ [A]: 0, [B]: 0, [C]: 0, [D]: 0 }));

    play.run(3, at({ [C]: -1, [D]: -1 }));

    expect(offHead(play)).toBe(-1);
  });

  it("is carried over a source that is asked twice an hour", () => {
    const watched = watch(BASE, A);
    const slow = [B, D].map((name) => ({ ...watch(BASE, name).targets[0], pollIntervalMs: 30 * MINUTE }));
    const play = new Play({
      chain: BASE,
      targets: [...watched.targets, ...(slow as typeof watched.targets)],
    });

    play.run(241, ({ nowMs, index }) =>
      index % 120 === 0 ? at({ [A]: 0, [B]: 0, [D]: -4 })({ nowMs }) : at({ [A]: 0 })({ nowMs }),
    );

    expect(Math.abs(offHead(play) ?? Number.NaN)).toBeLessThanOrEqual(10);
    expect(play.target(B)).toMatchObject({ status: "ok", lagBlocks: 0 });
    play.run(100, at({ [A]: 0 }));
    expect(play.target(B)).toMatchObject({ status: "ok", lagBlocks: 0 });
  });
});

describe("reference head with an RPC node", () => {
  it("is proven by one whose block time fits the wall clock", () => {
    const play = new Play(watch(BASE, A)).run(4, ({ nowMs }) => ({
      [A]: headOf(nowMs) - 600,
      [RPC]: node(nowMs),
    }));

    expect(offHead(play)).toBe(0);
    expect(play.target(A)).toMatchObject({ status: "lagging", lagBlocks: 600 });
  });

  it("is doubted where two or more providers that agree and advance stand elsewhere", () => {
    const play = new Play(watch(BASE, A, B)).run(10, at({ [A]: -3_600, [B]: -3_600 }));

    play.run(4, ({ nowMs }) => ({ ...at({ [A]: -3_600, [B]: -3_600 })({ nowMs }), [RPC]: node(nowMs) }));

    expect(offHead(play)).toBe(-3_600);
    expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(play.state.consensus.opposed).toMatchObject([{ source: RPC, kind: "ahead", blocks: 3_600 }]);
  });

  it("is followed where it goes on while all indexers fall behind", () => {
    const level = ({ nowMs }: { readonly nowMs: number }) => ({
      ...at({ [A]: 0, [B]: 0 })({ nowMs }),
      [RPC]: node(nowMs),
    });
    const play = new Play(watch(BASE, A, B)).run(20, level);

    play.run(8, ({ nowMs }) => ({ ...at({ [A]: -3_600, [B]: -3_600 })({ nowMs }), [RPC]: node(nowMs) }));

    expect(offHead(play)).toBe(0);
    expect(play.report().targets.map(({ status }) => status)).toEqual(["lagging", "lagging"]);
  });

  it("is not moved by one that belongs to another chain", () => {
    const play = new Play(watch(BASE, A, B)).run(10, at({ [A]: 0, [B]: 0 }));

    play.run(20, ({ nowMs }) => ({ ...at({ [A]: 0, [B]: 0 })({ nowMs }), [RPC]: node(nowMs, 30_000_000) }));

    expect(offHead(play)).toBe(0);
    expect(play.target(A).status).toBe("ok");
  });

  it("stands above one that lags behind the indexers", () => {
    const play = new Play(watch(BASE, A, B)).run(10, ({ nowMs }) => ({
      ...at({ [A]: 0, [B]: -1 })({ nowMs }),
      [RPC]: node(nowMs, -20),
    }));

    expect(offHead(play)).toBeGreaterThanOrEqual(-1);
  });
});

describe("reference head of a chain whose every source back-fills", () => {
  it.each([{ blockTimeMs: 2_000 }, { blockTimeMs: null }])(
    "is unknown until one reaches the tip, with a block time of $blockTimeMs",
    (pace) => {
      const play = new Play(watch({ ...BASE, ...pace }, A, C));
      const said = ({ nowMs, index }: { readonly nowMs: number; readonly index: number }) => ({
        [A]: Math.min(headOf(nowMs), 900_000 + index * 7_000),
        [C]: Math.min(headOf(nowMs), 880_000 + index * 6_500),
      });

      play.run(10, said);

      expect(play.report().reference).toBeNull();
      expect(play.report().targets.map(({ status }) => status)).toEqual(["syncing", "syncing"]);
      play.run(30, ({ nowMs }) => ({ [A]: headOf(nowMs), [C]: headOf(nowMs) }));
      expect(offHead(play)).toBe(0);
      expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
      expect(play.report().blockIntervalMs).toBeCloseTo(2_000, -2);
    },
  );

  it("is unknown, and no target ok, where all are hours behind by their own timestamps", () => {
    const play = new Play(watch(BASE, A, C)).run(10, ({ nowMs }) => {
      const late = { block: headOf(nowMs) - 5_400, timestampSec: Math.floor(nowMs / 1_000) - 10_800 };
      return { [A]: late, [C]: late };
    });

    expect(play.report().reference).toBeNull();
    expect(play.report().targets.map(({ status }) => status)).toEqual(["lagging", "lagging"]);
  });

  it("stays where it was while the chain pauses for longer than any block is a head", () => {
    const play = new Play(watch(BASE, A, C));
    const at = (nowMs: number) => ({ block: headOf(nowMs), timestampSec: Math.floor(nowMs / 2_000) * 2 });
    play.run(40, ({ nowMs }) => ({ [A]: at(nowMs), [C]: at(nowMs) }));
    const paused = at(play.nowMs);

    play.run(100, () => ({ [A]: paused, [C]: paused }));

    expect(play.report().reference).toMatchObject({ block: paused.block, sources: 2 });
    expect(play.target(A)).toMatchObject({ status: "stalled", lagBlocks: 0, lagMs: 0 });
  });
});

/** All say the same, but for one that is three blocks behind. */
function all(block: number): Readonly<Record<string, number>> {
  return { [A]: block, [B]: block, [C]: block - 3 };
}
