import { describe, expect, it } from "vitest";
import { observeInstant } from "../../../src/core/chain/observe.ts";
import { observeChain, startChain, watchFleet } from "../../../src/core/chain/watch-chain.ts";
import type { WatchedChain } from "../../../src/core/head/chain-state.ts";
import type { Fleet, Indexer, Target } from "../../../src/core/model/fleet.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { BASE, headAt, headOf, Play, T0, targetOn, watch } from "./chain-fixture.ts";

const [A, B, C, D] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
const FORM = { ...BASE, slug: "form", id: 478 };

function indexerOf(name: string, targets: readonly Target[]): Indexer {
  const [protocol = "", variant = "", tier = "production"] = name.split("/");
  const endpoint = {
    key: `${name}/all`,
    kind: "indexer",
    protocol,
    variant,
    tier,
    name: "all",
    url: "",
    host: "",
    headers: {},
    dialect: "auto",
    schedule: "",
    pollIntervalMs: 15_000,
    budget: null,
    targets,
    chain: null,
  } as const;
  return { protocol, variant, tier, endpoints: [endpoint] };
}

function fleetOf(indexers: readonly Indexer[]): Fleet {
  return { chains: [BASE, FORM], indexers, rpcEndpoints: [], budgets: [], skipped: [], parity: [] };
}

describe("watchFleet()", () => {
  it("gives each chain its targets in the order of the file", () => {
    const fleet = fleetOf([
      indexerOf(A, [targetOn(BASE, A), targetOn(FORM, A)]),
      indexerOf(B, [targetOn(FORM, B)]),
    ]);

    const watched = watchFleet(fleet);

    expect(watched.map(({ chain, targets }) => [chain.slug, targets.map(({ key }) => key)])).toEqual([
      ["base", ["airdrops/multichain/production/base"]],
      ["form", ["airdrops/multichain/production/form", "airdrops/subgraph/production/form"]],
    ]);
  });

  it.each([
    {
      case: "the first listed variant's production tier",
      names: ["airdrops/multichain/testing", A, B],
      baseline: "airdrops/multichain/production/base",
    },
    {
      case: "the first listed variant's only tier",
      names: ["airdrops/multichain/testing", B],
      baseline: "airdrops/multichain/testing/base",
    },
    {
      case: "its own, whatever another protocol's variant of that name has",
      names: ["airdrops/multichain/testing", "lockup/multichain"],
      baseline: "airdrops/multichain/testing/base",
    },
  ])("compares a protocol's targets with $case", ({ names, baseline }) => {
    const fleet = fleetOf(names.map((name) => indexerOf(name, [targetOn(BASE, name)])));

    expect(watchFleet(fleet)[0]?.baselines?.["airdrops"]).toBe(baseline);
  });

  it("has no targets on a chain that nobody serves, and knows the hosts of all sources", () => {
    const fleet = fleetOf([indexerOf(A, [targetOn(BASE, A)])]);

    const [base, form] = watchFleet(fleet);

    expect(form?.targets).toEqual([]);
    expect(base?.providers).toEqual({ [targetOn(BASE, A).key]: "" });
  });

  it("compares with nothing on a chain that the first variant does not serve", () => {
    const fleet = fleetOf([
      indexerOf(A, [targetOn(FORM, A)]),
      indexerOf(B, [targetOn(BASE, B)]),
      indexerOf("airdrops/subgraph/testing", [targetOn(BASE, "airdrops/subgraph/testing")]),
    ]);
    const [base] = watchFleet(fleet);
    const play = new Play(base as WatchedChain);

    play.run(20, ({ nowMs }) => ({ [B]: headOf(nowMs), "airdrops/subgraph/testing": headOf(nowMs) }));

    expect(base?.baselines).toEqual({});
    expect(play.report().gaps).toEqual([]);
  });
});

describe("observeChain()", () => {
  it("changes nothing for sources that are not watched", () => {
    const watched = watch(BASE, A);
    const state = startChain(watched);

    const next = observeChain(state, watched, [
      headAt("airdrops/multichain/production/form", T0, { block: 1 }),
      headAt("rpc/form/0", T0, { block: 1 }),
    ]);

    expect(next).toBe(state);
    expect(observeChain(state, watched, [])).toBe(state);
  });

  describe("of answers of different sources", () => {
    const watched = watch(BASE, A, B);
    const [a = "", b = ""] = watched.targets.map(({ key }) => key);
    /** Both were polled a round ago. */
    const known = observeChain(startChain(watched), watched, [
      headAt(a, T0, { block: 1_000 }),
      headAt(b, T0, { block: 1_000 }),
    ]);
    const round = (apartMs: number) => [
      headAt(a, T0 + 15_000, { block: 1_007 }),
      headAt(b, T0 + 15_000 + apartMs, { block: 1_008 }),
    ];
    const oneByOne = (observations: readonly Observation[]) =>
      observations.reduce((state, observation) => observeInstant(state, watched, [observation]), known);

    it("takes those within 250 ms for one instant", () => {
      const answers = round(249);

      const state = observeChain(known, watched, answers);

      expect(state).toEqual(observeInstant(known, watched, answers));
      expect(state).not.toEqual(oneByOne(answers));
    });

    it("takes those further apart for two", () => {
      const answers = round(250);

      const state = observeChain(known, watched, answers);

      expect(state).toEqual(oneByOne(answers));
      expect(state).not.toEqual(observeInstant(known, watched, answers));
    });

    it("ends an instant where a source answers again", () => {
      const [first, other] = round(100);
      const again = headAt(a, T0 + 15_050, { block: 1_009 });
      const answers = [first, other, again].filter((one) => one !== undefined);

      const state = observeChain(known, watched, answers);

      const expected = [[first], [again, other]].reduce(
        (folded, instant) =>
          observeInstant(
            folded,
            watched,
            instant.filter((one) => one !== undefined),
          ),
        known,
      );
      expect(state).toEqual(expected);
      expect(state).not.toEqual(observeInstant(known, watched, answers));
    });
  });

  it("folds a batch of several instants in the order of time", () => {
    const watched = watch(BASE, A);
    const [key = ""] = watched.targets.map((target) => target.key);
    const early = headAt(key, T0, { block: 10 });
    const late = headAt(key, T0 + 15_000, { block: 17 });

    const state = observeChain(startChain(watched), watched, [late, early]);

    expect(reportChain(state, watched, T0 + 20_000).targets[0]).toMatchObject({
      block: 17,
      lastAdvanceMs: T0 + 15_000,
      regressions: { reorg: 0, reindex: 0 },
    });
  });

  it("leaves the state that it is given as it was", () => {
    const play = new Play(watch(BASE, A, B)).run(5, ({ nowMs }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs),
    }));
    const before = JSON.stringify(play.state);
    const { state } = play;

    play.run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: "connect" }));

    expect(JSON.stringify(state)).toBe(before);
  });
});

describe("reportChain() of gaps", () => {
  it("is signed, in blocks and in seconds, with its uncertainty", () => {
    const play = new Play(watch(BASE, A, B, C, D)).run(30, ({ nowMs }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs) - 12,
      [C]: headOf(nowMs) - 5,
      [D]: headOf(nowMs),
    }));

    const [airdrops, lockup, ...rest] = play.report().gaps;

    expect(rest).toEqual([]);
    expect(airdrops).toMatchObject({
      against: "multichain",
      blocks: 12,
      target: { key: `${B}/production/base` },
    });
    expect(airdrops?.seconds).toBeCloseTo(24, 0);
    expect(airdrops?.uncertaintyBlocks).toBeLessThan(1);
    expect(lockup).toMatchObject({
      against: "multichain",
      blocks: -5,
      target: { key: `${D}/production/base` },
    });
    expect(lockup?.seconds).toBeCloseTo(-10, 0);
  });

  it("leaves out a gap where either side's evidence is stale", () => {
    const play = new Play(watch(BASE, A, B)).run(10, ({ nowMs }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs),
    }));

    play.run(25, ({ nowMs }) => ({ [B]: headOf(nowMs) }));

    expect(play.report().gaps).toEqual([]);
  });

  it("waits until somebody knows the pace", () => {
    const chain = { ...BASE, blockTimeMs: null };
    const play = new Play(watch(chain, A, B));
    const said = ({ nowMs }: { readonly nowMs: number }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) });

    expect(play.run(3, said).report()).toMatchObject({ gaps: [], blockIntervalMs: null });
    expect(
      play
        .run(5, said)
        .report()
        .gaps.map(({ blocks }) => blocks),
    ).toEqual([0]);
    expect(play.report().blockIntervalMs).toBeCloseTo(2_000, -2);
  });
});

describe("reportChain() of the preferred target", () => {
  function preferred(offsets: Readonly<Record<string, number | "connect">>): readonly string[] {
    const play = new Play(watch(BASE, A, B, C, D)).run(20, ({ nowMs }) =>
      Object.fromEntries(
        Object.entries(offsets).map(([name, said]) => [
          name,
          said === "connect" ? said : headOf(nowMs) + said,
        ]),
      ),
    );
    return play
      .report()
      .targets.filter((report) => report.preferred)
      .map(({ target }) => `${target.protocol}/${target.variant}`);
  }

  it.each([
    { case: "the first listed of equals", offsets: { [A]: 0, [B]: 0, [C]: 0, [D]: 0 }, keys: [A, C] },
    { case: "the clearly fresher one", offsets: { [A]: -10, [B]: 0, [C]: 0, [D]: -10 }, keys: [B, C] },
    {
      case: "the first listed where the other is hardly fresher",
      offsets: { [A]: -2, [B]: 0, [C]: 0, [D]: 0 },
      keys: [A, C],
    },
    { case: "the healthy one", offsets: { [A]: "connect", [B]: -50, [C]: 0, [D]: 0 }, keys: [B, C] },
    {
      case: "none where none is healthy",
      offsets: { [A]: "connect", [B]: "connect", [C]: 0, [D]: 0 },
      keys: [C],
    },
  ] as const)("is $case", ({ offsets, keys }) => {
    expect(preferred(offsets)).toEqual(keys);
  });
});

describe("reportChain() of a target on another chain or fork", () => {
  const slow = { ...BASE, blockTimeMs: 12_000 };

  function forked(ticks: number, rpc: "with an RPC node" | "without"): Play {
    return new Play(watch(slow, A, B)).run(ticks, ({ nowMs }) => {
      const block = headOf(nowMs, 12_000);
      const node = {
        "rpc/base/0": { block, hash: `0xa${block}`, timestampSec: Math.floor(nowMs / 12_000) * 12 },
      };
      return {
        ...(rpc === "without" ? {} : node),
        [A]: { block, hash: `0xa${block}` },
        [B]: { block, hash: `0xb${block}` },
      };
    });
  }

  it("is `diverged` by its hashes, as an RPC node decides", () => {
    expect(
      forked(6, "with an RPC node")
        .report()
        .targets.map(({ status }) => status),
    ).toEqual(["ok", "diverged"]);
    expect(forked(6, "with an RPC node").target(B)).toMatchObject({
      lagBlocks: null,
      detail: expect.stringMatching(
        /^answers for another chain or fork: its hash of block 1,000,\d+ is not that of/,
      ),
    });
  });

  it("accuses nobody where two differ and nobody can decide", () => {
    expect(
      forked(6, "without")
        .report()
        .targets.map(({ status }) => status),
    ).toEqual(["ok", "ok"]);
  });

  it("is `diverged` by the time of a block that was made long ago", () => {
    const play = new Play(watch(BASE, A, B, C)).run(20, ({ nowMs, index }) => ({
      [A]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
      [B]: { block: headOf(nowMs) - (index < 10 ? 0 : 700_000), timestampSec: Math.floor(nowMs / 1_000) },
      [C]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
    }));

    expect(play.target(B)).toMatchObject({
      status: "diverged",
      detail: expect.stringMatching(/its time of block [\d,]+ contradicts multichain by \d+ d \d+ h$/),
    });
    expect(play.target(A).status).toBe("ok");
  });

  it("believes the majority where a liar has set the clock", () => {
    const play = new Play(watch(BASE, A, B, C));
    play.run(1, ({ nowMs }) => ({ [A]: { block: 200_000, timestampSec: Math.floor(nowMs / 1_000) } }));

    play.run(10, ({ nowMs }) => ({
      [A]: { block: headOf(nowMs) - 800_000, timestampSec: Math.floor(nowMs / 1_000) },
      [B]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
      [C]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
    }));

    expect(play.report().targets.map(({ status }) => status)).toEqual(["diverged", "ok", "ok"]);
  });
});
