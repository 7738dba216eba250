import { describe, expect, it } from "vitest";
import { observeChain, startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ChainState, WatchedChain } from "../../../src/core/head/chain-state.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { BASE, headAt, headOf, T0, targetOn, watch } from "./chain-fixture.ts";

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
  ...worldsOf(3, [500, -500, 900_000, -900_000]).filter(({ node }) => node === "with"),
  ...worldsOf(4, [900_000, -500]).filter(({ node }) => node === "without"),
  ...worldsOf(5, [500]).filter(({ node, times }) => node === "without" && times === "nobody"),
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
