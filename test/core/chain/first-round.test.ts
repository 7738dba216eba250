import { describe, expect, it } from "vitest";
import { observeChain, startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ChainState, WatchedChain } from "../../../src/core/head/chain-state.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { BASE, headAt, headOf, Play, T0, targetOn, watch } from "./chain-fixture.ts";

const NAMES = [
  "airdrops/multichain",
  "airdrops/subgraph",
  "lockup/multichain",
  "lockup/subgraph",
  "flow/envio",
];
const RPC = "rpc/base/0";
const ROUND_MS = 15_000;
/** From one answer to the next. */
const STEP_MS = 400;

interface World {
  readonly sources: number;
  readonly liar: "an indexer" | "the RPC node";
  readonly offBlocks: number;
  readonly times: "all" | "nobody" | "the honest" | "the liar";
  readonly node: "with" | "without";
}

function worldsOf(sources: number, distances: readonly number[]): readonly World[] {
  return distances.flatMap((offBlocks) =>
    (["all", "nobody", "the honest", "the liar"] as const).flatMap((times): World[] => [
      { sources, offBlocks, times, liar: "an indexer", node: "without" },
      { sources, offBlocks, times, liar: "an indexer", node: "with" },
      { sources, offBlocks, times, liar: "the RPC node", node: "with" },
    ]),
  );
}

/** A node whose block is new is believed until two of those who contradict it without times are seen to advance. */
function isNodeBelieved({ liar, offBlocks, times }: World): boolean {
  return liar === "the RPC node" && offBlocks > 0 && (times === "nobody" || times === "the liar");
}

const WORLDS = [
  ...worldsOf(3, [500, -500, 900_000, -900_000]),
  ...worldsOf(4, [900_000, -900_000]),
  ...worldsOf(5, [500]).filter(({ times }) => times === "nobody"),
];

function watchedOf({ node, sources }: World): WatchedChain {
  const watched = watch(BASE, ...NAMES.slice(0, node === "with" ? sources - 1 : sources));
  const keys = [...watched.targets.map(({ key }) => key), ...(node === "with" ? [RPC] : [])];
  // Those of another chain are not waited for.
  return { ...watched, providers: Object.fromEntries([...keys, "rpc/form/0"].map((key) => [key, key])) };
}

function keysOf({ providers = {} }: WatchedChain): readonly string[] {
  return Object.keys(providers).filter((key) => key !== "rpc/form/0");
}

function liarOf(world: World): string {
  return world.liar === "the RPC node" ? RPC : targetOn(BASE, NAMES[0] ?? "").key;
}

/** What a source says: a liar on another track tells the times that its blocks would have if they were new. */
function said(world: World, source: string, atMs: number): Observation {
  const isLiar = source === liarOf(world);
  const tellsTime =
    source === RPC || world.times === "all" || world.times === (isLiar ? "the liar" : "the honest");
  const block = headOf(atMs) + (isLiar ? world.offBlocks : 0);
  return headAt(source, atMs, { block, timestampSec: tellsTime ? Math.floor(atMs / 1_000) : null });
}

function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.length < 2
    ? [items]
    : items.flatMap((item) =>
        ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      );
}

function statusesOf(
  state: ChainState,
  watched: WatchedChain,
  nowMs: number,
): Readonly<Record<string, string>> {
  const { targets } = reportChain(state, watched, nowMs);
  return Object.fromEntries(
    targets.map(({ reason, status, target }) => [
      target.key,
      reason === null ? status : `${status} (${reason})`,
    ]),
  );
}

interface Played {
  /** At the end of each round. */
  readonly ends: readonly Readonly<Record<string, string>>[];
  /** What was held against an honest source, at any moment. */
  readonly accused: readonly string[];
}

/** What is held against honest sources. */
function accusedIn({ sources }: ChainState, liar: string): readonly string[] {
  return sources.flatMap(({ key, verdict }) =>
    key === liar || verdict === null || verdict.status === "ok" ? [] : [`${key} ${verdict.status}`],
  );
}

/** Plays three rounds in one order of arrival; `together` answers are folded as one instant. */
function play(world: World, order: readonly string[], together: number): Played {
  const watched = watchedOf(world);
  const accused: string[] = [];
  const ends: Played["ends"][number][] = [];
  let state = startChain(watched);
  for (const round of [1, 2, 3]) {
    const startMs = T0 + round * ROUND_MS;
    for (let from = 0; from < order.length; from += together) {
      const atMs = startMs + from * STEP_MS;
      const batch = order.slice(from, from + together).map((source) => said(world, source, atMs));
      state = observeChain(state, watched, batch);
      accused.push(...accusedIn(state, liarOf(world)));
    }
    ends.push(statusesOf(state, watched, startMs + ROUND_MS / 2));
  }
  return { ends, accused };
}

/** Plays a world in every order of arrival, with one answer at an instant and with two. */
function playAll(world: World): readonly Played[] {
  return ordersOf(keysOf(watchedOf(world))).flatMap((order) =>
    [1, 2].map((together) => play(world, order, together)),
  );
}

function named(worlds: readonly World[]): readonly { readonly name: string; readonly world: World }[] {
  return worlds.map((world) => {
    const { liar, node, offBlocks, sources, times } = world;
    const name = `${liar} of ${sources} sources ${offBlocks} off, ${times} with times, ${node} a node`;
    return { name, world };
  });
}

/** What is said of the honest targets at the end of a round. */
function saidOfHonest({ ends }: Played, round: number, world: World): readonly string[] {
  const entries = Object.entries(ends[round - 1] ?? {}).filter(([key]) => key !== liarOf(world));
  return [...new Set(entries.map(([, status]) => status))];
}

describe("the first rounds of a chain", () => {
  it.each(named(WORLDS.filter((world) => !isNodeBelieved(world))))(
    "end the same in all orders, and accuse nobody honest: $name",
    ({ world }) => {
      const played = playAll(world);

      expect([...new Set(played.map(({ ends }) => JSON.stringify(ends)))]).toHaveLength(1);
      expect(played.flatMap(({ accused }) => accused)).toEqual([]);
      expect(played.map((one) => saidOfHonest(one, 1, world))).toEqual(played.map(() => ["ok"]));
    },
  );

  it.each(named(WORLDS.filter(isNodeBelieved)))(
    "end the same in all orders, and are right from the second on: $name",
    ({ world }) => {
      const played = playAll(world);

      expect([...new Set(played.map(({ ends }) => JSON.stringify(ends)))]).toHaveLength(1);
      expect(played.map((one) => saidOfHonest(one, 1, world))).toEqual(played.map(() => ["lagging"]));
      expect(played.map((one) => saidOfHonest(one, 2, world))).toEqual(played.map(() => ["ok"]));
    },
  );

  it("say of a liar what it is, whoever answered first", () => {
    const [world] = worldsOf(3, [900_000]);
    const played = world === undefined ? [] : playAll(world);

    expect(played).toHaveLength(12);
    expect(played.map(({ ends: [first] }) => first?.["airdrops/multichain/production/base"])).toEqual(
      played.map(() => "diverged (implausible)"),
    );
  });
});

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
