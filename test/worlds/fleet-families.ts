import { createRandom } from "../../src/sim/model/random.ts";
import { pick, shuffled } from "./simulated-poll.ts";
import {
  AT_HEAD,
  always,
  type Conduct,
  HOUR,
  MINUTE,
  type Rules,
  SECOND,
  type World,
  type WorldSource,
} from "./world.ts";
import type { ChainSpec } from "./world-chain.ts";

export const RULES: Rules = {
  phases: "together",
  settlesMs: 5 * MINUTE,
  changeSettlesMs: 0,
  polls: 3,
  badLooks: 0,
  referenceOldMs: 75 * SECOND,
  referenceAheadMs: 15 * SECOND,
  referenceBlocks: 0,
  thresholdMs: 150 * SECOND,
};
const BLOCK_TIMES_MS = [250, 750, 2_000, 5_000, 12_000];

export type Random = () => number;
/** What a world is made of, without its seed. */
export type Draft = Pick<World, "chain"> &
  Partial<Omit<World, "sources">> & { readonly sources: readonly Drafted[] };
export type Drafted = Omit<WorldSource, "key"> & { readonly kind: "indexer" | "rpc" };

/** The families of worlds by name: each makes any number of worlds. */
export const FLEET_FAMILIES: Readonly<Record<string, (index: number) => World>> = {
  "packaged cadences, healthy": family("packaged healthy", (random) => packaged(random, null)),
  "packaged cadences, a fault of an hour": family("packaged faulty", (random) =>
    packaged(random, drawFault(random)),
  ),
  "two of three late, all dated": family("late dated", (random) => twoLate(random, true)),
  "two of three late, without times": family("late undated", (random) => twoLate(random, false)),
  "followers of final blocks": family("final", followersOfFinalBlocks),
  "right heights, wrong times": family("times", wrongTimes),
  "providers that hash differently": family("hashes", differentHashes),
  "an RPC node of another chain": family("node", foreignNode),
  "all behind one host": family("proxy", oneProxy),
  "creeps ahead by 1 to 10 %": family("creeps", creeps),
  "drifts while the others are asked twice an hour": family("lone", driftsAlone),
  "17 to 60 sources": family("many", manySources),
  "nine agreeing liars against twenty": family("bloc", (random) => bloc(random, 9, 20)),
  "one host with many agreeing liars": family("host", liarsOfOneHost),
  "batches of 1 to 120 s": family("batches", batches),
  "always 1 to 9 minutes late": family("late", alwaysLate),
  "a pair and an RPC node, a fault of an hour": family("pair", pairAndNode),
  "lossy network, restarts, flapping": family("lossy", lossy),
  "a halt of 2 to 30 minutes, late sources": family("halt", haltWithLate),
  "a halt of 1 to 9 minutes, a liar above the head": family("halt and liar", haltWithLiar),
  "one or two index again": family("again", indexAgain),
};

export function family(name: string, draft: (random: Random) => Draft): (index: number) => World {
  return (index) => {
    const seed = `${name}/${index}`;
    const { sources, ...drafted } = draft(createRandom(seed));
    return {
      ...{ seed, lastsMs: 2 * HOUR, restarts: [], headShownBy: 2, rules: RULES },
      ...drafted,
      sources: sources.map((source, at) => ({ ...source, key: keyOf(sources, source, at) })),
    };
  };
}

/** Two protocols as in the packaged chains.yaml: gateways are asked twice an hour, since their budget allows no more. */
function packaged(random: Random, fault: Drafted["conducts"] | null): Draft {
  const late = (): Conduct => ({ kind: "follows", delayMs: random() * 5 * SECOND });
  const one = (provider: string, pollIntervalMs: number, reportsTimes: boolean): Drafted =>
    source({ provider, pollIntervalMs, reportsTimes, timeouts: 0.02, conducts: always(late()) });
  const indexers = ["a", "b"].flatMap(() => [
    one("envio", 15 * SECOND, false),
    one("gateway", 30 * MINUTE, true),
    one("studio", MINUTE, true),
  ]);
  const node = random() < 0.7 ? [{ ...one("node", 30 * SECOND, true), kind: "rpc" as const }] : [];
  const faulty = pick([0, 2, 3, 5], random);
  return {
    lastsMs: 4 * HOUR,
    chain: drawChain(random),
    sources: [
      ...indexers.map((own, at) => (fault === null || at !== faulty ? own : { ...own, conducts: fault })),
      ...node,
    ],
  };
}

function twoLate(random: Random, reportsTimes: boolean): Draft {
  const delayMs = (2 + 7 * random()) * MINUTE;
  const late = always({ kind: "follows", delayMs });
  const hosts = ["a", "b", "c"].toSorted(() => random() - 0.5);
  return {
    chain: drawChain(random),
    headShownBy: reportsTimes ? 2 : null,
    sources: hosts.map((host, at) =>
      source({ provider: host, reportsTimes, conducts: at === 0 ? always(AT_HEAD) : late }),
    ),
  };
}

function followersOfFinalBlocks(random: Random): Draft {
  const steps = (): Conduct => ({
    kind: "steps",
    blocks: pick([32, 64], random),
    depth: pick([0, 2, 12], random),
  });
  const reportsTimes = random() < 0.5;
  const count = 2 + Math.floor(random() * 3);
  const node = random() < 0.5 ? [source({ kind: "rpc", provider: "node", reportsTimes: true })] : [];
  const chain: ChainSpec = { ...drawChain(random), blockTimeMs: 12_000, paces: [] };
  return {
    chain,
    headShownBy: reportsTimes || node.length > 0 ? 2 : null,
    sources: [
      source({ provider: "tip", reportsTimes }),
      ...hosts(count, (at) => ({
        provider: `final${at}`,
        reportsTimes: random() < 0.5,
        conducts: always(steps()),
      })),
      ...node,
    ],
  };
}

function wrongTimes(random: Random): Draft {
  const timeShiftMs = (random() < 0.5 ? -1 : 1) * (20 + 60 * random()) * MINUTE;
  return {
    chain: drawChain(random),
    sources: shuffled(
      [
        source({ provider: "a", reportsTimes: true, timeShiftMs }),
        source({ provider: "b", reportsTimes: true }),
        ...["c", "d"].map((provider) => source({ provider })),
      ],
      random,
    ),
  };
}

function differentHashes(random: Random): Draft {
  const count = 3 + Math.floor(random() * 3);
  return {
    chain: drawChain(random),
    sources: hosts(count, (at) => ({ reportsTimes: random() < 0.5, hashing: at === 0 ? "b" : "a" })),
  };
}

function foreignNode(random: Random): Draft {
  const blocks = (random() < 0.5 ? -1 : 1) * Math.round(2_000 * 1_000 ** random());
  const reportsTimes = false;
  return {
    chain: drawChain(random),
    headShownBy: null,
    sources: [
      source({ provider: "fast", reportsTimes }),
      source({ provider: "slow", reportsTimes, pollIntervalMs: pick([MINUTE, 30 * MINUTE], random) }),
      source({
        kind: "rpc",
        provider: "node",
        reportsTimes: true,
        conducts: always({ kind: "other chain", blocks, pace: 0.2 + 4 * random() }),
      }),
    ],
  };
}

function oneProxy(random: Random): Draft {
  const count = 3 + Math.floor(random() * 4);
  const faulty = random() < 0.5 ? Math.floor(random() * count) : -1;
  return {
    chain: drawChain(random),
    sources: hosts(count, (at) => ({
      provider: "proxy",
      reportsTimes: random() < 0.5,
      ...(at === faulty ? { conducts: always({ kind: "follows", delayMs: 25 * MINUTE }) } : {}),
    })),
  };
}

function creeps(random: Random): Draft {
  const count = 2 + Math.floor(random() * 3);
  const drift: Conduct = { kind: "drifts", pace: 1.01 + 0.09 * random() };
  return {
    lastsMs: 4 * HOUR,
    chain: { ...drawChain(random), paces: [] },
    sources: [
      source({ provider: "creeper", conducts: always(drift) }),
      ...hosts(count, () => ({ pollIntervalMs: pick([15 * SECOND, 30 * SECOND, MINUTE], random) })),
    ],
  };
}

function driftsAlone(random: Random): Draft {
  const drift: Conduct = { kind: "drifts", pace: 0.8 + 0.4 * random() };
  return {
    lastsMs: 4 * HOUR,
    chain: { ...drawChain(random), paces: [] },
    headShownBy: null,
    sources: [
      source({
        provider: "fast",
        conducts: [...always(AT_HEAD), { fromMs: HOUR, conduct: drift }],
      }),
      ...["b", "c", "d"].map((host) =>
        source({ provider: host, pollIntervalMs: 30 * MINUTE, reportsTimes: random() < 0.5 }),
      ),
    ],
  };
}

function manySources(random: Random): Draft {
  const count = 17 + Math.floor(random() * 44);
  const lie = drawLie(random);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    sources: hosts(count, () => ({
      reportsTimes: random() < 0.5,
      conducts: random() < 0.15 ? always(random() < 0.5 ? lie : drawLie(random)) : always(AT_HEAD),
    })),
  };
}

function bloc(random: Random, liars: number, honest: number): Draft {
  const lie = drawLie(random);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    // Their keys sort first: sources are numbered in this order.
    sources: hosts(liars + honest, (at) => ({
      reportsTimes: random() < 0.3,
      conducts: always(at < liars ? lie : AT_HEAD),
    })),
  };
}

function liarsOfOneHost(random: Random): Draft {
  const lie = drawLie(random);
  const liars = 4 + Math.floor(random() * 8);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    sources: [
      ...hosts(liars, () => ({ provider: "liar", conducts: always(lie) })),
      ...["b", "c", "d"].map((host) => source({ provider: host, reportsTimes: random() < 0.5 })),
    ],
  };
}

function batches(random: Random): Draft {
  const count = 1 + Math.floor(random() * 2);
  const reportsTimes = random() < 0.5;
  return {
    chain: drawChain(random),
    headShownBy: reportsTimes ? 2 : null,
    sources: [
      source({ provider: "tip", reportsTimes }),
      ...hosts(count, (at) => ({
        provider: `batch${at}`,
        reportsTimes: random() < 0.5,
        conducts: always({ kind: "batches", everyMs: (1 + 119 * random()) * SECOND }),
      })),
    ],
  };
}

function alwaysLate(random: Random): Draft {
  const count = 2 + Math.floor(random() * 3);
  return {
    chain: drawChain(random),
    sources: [
      source({
        provider: "late",
        reportsTimes: random() < 0.5,
        conducts: always({ kind: "follows", delayMs: (1 + 8 * random()) * MINUTE }),
      }),
      ...hosts(count, () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

function pairAndNode(random: Random): Draft {
  const faulty = Math.floor(random() * 2);
  return {
    lastsMs: 4 * HOUR,
    chain: drawChain(random),
    sources: [
      ...["a", "b"].map((host, at) =>
        source({
          provider: host,
          reportsTimes: random() < 0.5,
          ...(at === faulty ? { conducts: drawFault(random) } : {}),
        }),
      ),
      source({ kind: "rpc", provider: "node", pollIntervalMs: 30 * SECOND, reportsTimes: true }),
    ],
  };
}

/** The chain and the sources at its head halt; the late sources, which are fewer, still advance. */
function haltWithLate(random: Random): Draft {
  const late = 1 + Math.floor(random() * 2);
  const reportsTimes = () => random() < 0.5;
  const node = random() < 0.3 ? [source({ kind: "rpc", provider: "node", reportsTimes: true })] : [];
  const halt = { atMs: 70 * MINUTE, forMs: (2 + 28 * random()) * MINUTE, factor: null };
  return {
    chain: { ...drawChain(random), paces: [halt] },
    // The judge counts the halt as time that a late source is behind.
    rules: { ...RULES, badLooks: Number.POSITIVE_INFINITY },
    sources: [
      ...hosts(late + 1, () => ({ reportsTimes: reportsTimes() })),
      ...hosts(late, (at) => ({
        provider: `late${at}`,
        reportsTimes: reportsTimes(),
        conducts: always({ kind: "follows", delayMs: (12 + 18 * random()) * MINUTE }),
      })),
      ...node,
    ],
  };
}

/** The liar lies from the beginning or begins in the halt. The others were right just before. */
function haltWithLiar(random: Random): Draft {
  const halt = { atMs: 50 * MINUTE, forMs: (1 + 8 * random()) * MINUTE, factor: null };
  const chain = { ...drawChain(random), paces: [halt] };
  const fromMs = random() < 0.5 ? 0 : halt.atMs + Math.floor(halt.forMs * random());
  const pace = 0.2 + 1.6 * random();
  // Further than the chain can have come: a smaller lie cannot be recognized.
  const aheadMs = (fromMs === 0 ? 12 : 45) * 10 ** random() * MINUTE;
  const blocks = Math.round((aheadMs + (1 - pace) * halt.atMs) / chain.blockTimeMs);
  const lie: Conduct = { kind: "other chain", blocks, pace };
  return {
    lastsMs: 70 * MINUTE,
    chain,
    sources: [
      ...hosts(2 + Math.floor(random() * 3), () => drawCadence(random)),
      source({
        provider: "liar",
        ...drawCadence(random),
        conducts: fromMs === 0 ? always(lie) : [...always(AT_HEAD), { fromMs, conduct: lie }],
      }),
    ],
  };
}

/** After an hour, one or two sources fall back by an hour to three weeks of blocks, and climb at 1.2 to 120 times the chain's pace. */
function indexAgain(random: Random): Draft {
  const chain = { ...drawChain(random), paces: [] };
  const climb = (): Conduct => ({
    kind: "climbs",
    blocks: Math.round((HOUR / chain.blockTimeMs) * 500 ** random()),
    pace: 1.2 * 100 ** random(),
  });
  return {
    lastsMs: 3 * HOUR,
    chain,
    sources: [
      ...hosts(2 + Math.floor(random() * 2), () => drawCadence(random)),
      ...hosts(1 + Math.floor(random() * 2), (at) => ({
        provider: `again${at}`,
        ...drawCadence(random),
        conducts: [...always(AT_HEAD), { fromMs: HOUR, conduct: climb() }],
      })),
    ],
  };
}

function drawCadence(random: Random): Pick<Drafted, "pollIntervalMs" | "reportsTimes"> {
  return { pollIntervalMs: pick([15, 15, 30, 60], random) * SECOND, reportsTimes: random() < 0.5 };
}

function lossy(random: Random): Draft {
  const count = 3 + Math.floor(random() * 3);
  const timeouts = random() * 0.3;
  const flapping: WorldSource["conducts"] = Array.from({ length: 8 }, (_, at) => ({
    fromMs: at * 15 * MINUTE,
    conduct: at % 2 === 0 ? AT_HEAD : { kind: "fails" },
  }));
  return {
    chain: drawChain(random),
    restarts: [
      { atMs: 40 * MINUTE, state: "kept" },
      { atMs: 80 * MINUTE, state: random() < 0.5 ? "kept" : "lost" },
    ],
    sources: [
      source({ provider: "flaps", timeouts, conducts: flapping }),
      ...hosts(count, () => ({ timeouts, reportsTimes: random() < 0.5 })),
    ],
  };
}

export function drawChain(random: Random): ChainSpec {
  const paces = [
    ...(random() < 0.3 ? [{ atMs: 70 * MINUTE, forMs: (0.25 + 6 * random()) * MINUTE, factor: null }] : []),
    ...(random() < 0.3
      ? [{ atMs: 95 * MINUTE, forMs: (1 + 5 * random()) * MINUTE, factor: 1 / (1.5 + 2 * random()) }]
      : []),
  ];
  return {
    blockTimeMs: pick(BLOCK_TIMES_MS, random),
    spread: pick(["even", "±30 %", "exponential"] as const, random),
    paces,
  };
}

/** Right for an hour, then wrong for an hour, then right again. */
function drawFault(random: Random): WorldSource["conducts"] {
  const fault = pick<Conduct>(
    [
      { kind: "follows", delayMs: 25 * MINUTE },
      { kind: "stopped" },
      { kind: "offset", blocks: 5_000_000 },
      { kind: "fails" },
    ],
    random,
  );
  return [...always(AT_HEAD), { fromMs: HOUR, conduct: fault }, { fromMs: 2 * HOUR, conduct: AT_HEAD }];
}

/** Far off, ahead or on another chain. */
function drawLie(random: Random): Conduct {
  const blocks = Math.round(5_000 * 200 ** random());
  return random() < 0.5
    ? { kind: "offset", blocks }
    : { kind: "other chain", blocks: (random() < 0.5 ? -20 : 1) * blocks, pace: 0.2 + 4 * random() };
}

/** Sources, each with a host of its own unless `own` has another provider. */
export function hosts(count: number, own: (at: number) => Partial<Drafted>): readonly Drafted[] {
  return Array.from({ length: count }, (_, at) => source({ provider: `h${at}`, ...own(at) }));
}

export function source(own: Partial<Drafted> & Pick<Drafted, "provider">): Drafted {
  return {
    kind: "indexer",
    pollIntervalMs: 15 * SECOND,
    reportsTimes: false,
    timeShiftMs: 0,
    hashing: null,
    timeouts: 0.005,
    conducts: always(AT_HEAD),
    ...own,
  };
}

function keyOf(sources: readonly Drafted[], { kind }: Drafted, index: number): string {
  const earlier = sources.slice(0, index).filter((one) => one.kind === kind).length;
  return kind === "rpc"
    ? `rpc/bench/${earlier}`
    : `airdrops/v${String(earlier).padStart(2, "0")}/production/bench`;
}
