import { createRandom } from "../../src/sim/model/random.ts";
import { type Conduct, type FleetSource, type FleetWorld, MINUTE, SECOND } from "./fleet-world.ts";
import type { ChainSpec } from "./world-chain.ts";

const HOUR = 60 * MINUTE;
const AT_HEAD: Conduct = { kind: "follows", delayMs: 0 };
const BLOCK_TIMES_MS = [250, 750, 2_000, 5_000, 12_000];

type Random = () => number;
/** What a world is made of, without its seed. */
type Draft = Pick<FleetWorld, "chain" | "sources"> & Partial<FleetWorld>;

/** The families of worlds by name: each makes any number of worlds. */
export const FLEET_FAMILIES: Readonly<Record<string, (index: number) => FleetWorld>> = {
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
};

function family(name: string, draft: (random: Random) => Draft): (index: number) => FleetWorld {
  return (index) => {
    const seed = `${name}/${index}`;
    return { seed, lastsMs: 2 * HOUR, restarts: [], isReferenceKnown: true, ...draft(createRandom(seed)) };
  };
}

/** Two protocols as in the packaged chains.yaml: gateways are asked twice an hour, since their budget allows no more. */
function packaged(random: Random, fault: FleetSource["conducts"] | null): Draft {
  const late = (): Conduct => ({ kind: "follows", delayMs: random() * 5 * SECOND });
  const one = (host: string, everyMs: number, reportsTimes: boolean): FleetSource =>
    source({ host, everyMs, reportsTimes, timeouts: 0.02, conducts: always(late()) });
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
    isReferenceKnown: reportsTimes,
    sources: hosts.map((host, at) =>
      source({ host, reportsTimes, conducts: at === 0 ? always(AT_HEAD) : late }),
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
  const node = random() < 0.5 ? [source({ kind: "rpc", host: "node", reportsTimes: true })] : [];
  const chain: ChainSpec = { ...drawChain(random), blockTimeMs: 12_000, paces: [] };
  return {
    chain,
    isReferenceKnown: reportsTimes || node.length > 0,
    sources: [
      source({ host: "tip", reportsTimes }),
      ...Array.from({ length: count }, (_, at) =>
        source({ host: `final${at}`, reportsTimes: random() < 0.5, conducts: always(steps()) }),
      ),
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
        source({ host: "a", reportsTimes: true, timeShiftMs }),
        source({ host: "b", reportsTimes: true }),
        source({ host: "c" }),
        source({ host: "d" }),
      ],
      random,
    ),
  };
}

function differentHashes(random: Random): Draft {
  const count = 3 + Math.floor(random() * 3);
  return {
    chain: drawChain(random),
    sources: Array.from({ length: count }, (_, at) =>
      source({ host: `h${at}`, reportsTimes: random() < 0.5, hashing: at === 0 ? "b" : "a" }),
    ),
  };
}

function foreignNode(random: Random): Draft {
  const blocks = (random() < 0.5 ? -1 : 1) * Math.round(2_000 * 1_000 ** random());
  const reportsTimes = false;
  return {
    chain: drawChain(random),
    isReferenceKnown: false,
    sources: [
      source({ host: "fast", reportsTimes }),
      source({ host: "slow", reportsTimes, everyMs: pick([MINUTE, 30 * MINUTE], random) }),
      source({
        kind: "rpc",
        host: "node",
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
    sources: Array.from({ length: count }, (_, at) =>
      source({
        host: "proxy",
        reportsTimes: random() < 0.5,
        ...(at === faulty ? { conducts: always({ kind: "follows", delayMs: 25 * MINUTE }) } : {}),
      }),
    ),
    isReferenceKnown: true,
  };
}

function creeps(random: Random): Draft {
  const count = 2 + Math.floor(random() * 3);
  const drift: Conduct = { kind: "drifts", pace: 1.01 + 0.09 * random() };
  return {
    lastsMs: 4 * HOUR,
    chain: { ...drawChain(random), paces: [] },
    sources: [
      source({ host: "creeper", conducts: always(drift) }),
      ...Array.from({ length: count }, (_, at) =>
        source({ host: `h${at}`, everyMs: pick([15 * SECOND, 30 * SECOND, MINUTE], random) }),
      ),
    ],
  };
}

function driftsAlone(random: Random): Draft {
  const drift: Conduct = { kind: "drifts", pace: 0.8 + 0.4 * random() };
  return {
    lastsMs: 4 * HOUR,
    chain: { ...drawChain(random), paces: [] },
    isReferenceKnown: false,
    sources: [
      source({
        host: "fast",
        conducts: [
          { fromMs: 0, conduct: AT_HEAD },
          { fromMs: HOUR, conduct: drift },
        ],
      }),
      ...["b", "c", "d"].map((host) => source({ host, everyMs: 30 * MINUTE, reportsTimes: random() < 0.5 })),
    ],
  };
}

function manySources(random: Random): Draft {
  const count = 17 + Math.floor(random() * 44);
  const lie = drawLie(random);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    sources: Array.from({ length: count }, (_, at) =>
      source({
        host: `h${at}`,
        reportsTimes: random() < 0.5,
        conducts: random() < 0.15 ? always(random() < 0.5 ? lie : drawLie(random)) : always(AT_HEAD),
      }),
    ),
  };
}

function bloc(random: Random, liars: number, honest: number): Draft {
  const lie = drawLie(random);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    // Their keys sort first: sources are numbered in this order.
    sources: Array.from({ length: liars + honest }, (_, at) =>
      source({
        host: `h${at}`,
        reportsTimes: random() < 0.3,
        conducts: always(at < liars ? lie : AT_HEAD),
      }),
    ),
  };
}

function liarsOfOneHost(random: Random): Draft {
  const lie = drawLie(random);
  const liars = 4 + Math.floor(random() * 8);
  return {
    lastsMs: HOUR,
    chain: drawChain(random),
    sources: [
      ...Array.from({ length: liars }, () => source({ host: "liar", conducts: always(lie) })),
      ...["b", "c", "d"].map((host) => source({ host, reportsTimes: random() < 0.5 })),
    ],
  };
}

function batches(random: Random): Draft {
  const count = 1 + Math.floor(random() * 2);
  const reportsTimes = random() < 0.5;
  return {
    chain: drawChain(random),
    isReferenceKnown: reportsTimes,
    sources: [
      source({ host: "tip", reportsTimes }),
      ...Array.from({ length: count }, (_, at) =>
        source({
          host: `batch${at}`,
          reportsTimes: random() < 0.5,
          conducts: always({ kind: "batches", everyMs: (1 + 119 * random()) * SECOND }),
        }),
      ),
    ],
  };
}

function alwaysLate(random: Random): Draft {
  const count = 2 + Math.floor(random() * 3);
  return {
    chain: drawChain(random),
    sources: [
      source({
        host: "late",
        reportsTimes: random() < 0.5,
        conducts: always({ kind: "follows", delayMs: (1 + 8 * random()) * MINUTE }),
      }),
      ...Array.from({ length: count }, (_, at) => source({ host: `h${at}`, reportsTimes: random() < 0.5 })),
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
          host,
          reportsTimes: random() < 0.5,
          ...(at === faulty ? { conducts: drawFault(random) } : {}),
        }),
      ),
      source({ kind: "rpc", host: "node", everyMs: 30 * SECOND, reportsTimes: true }),
    ],
  };
}

function lossy(random: Random): Draft {
  const count = 3 + Math.floor(random() * 3);
  const timeouts = random() * 0.3;
  const flapping: FleetSource["conducts"] = Array.from({ length: 8 }, (_, at) => ({
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
      source({ host: "flaps", timeouts, conducts: flapping }),
      ...Array.from({ length: count }, (_, at) =>
        source({ host: `h${at}`, timeouts, reportsTimes: random() < 0.5 }),
      ),
    ],
  };
}

function drawChain(random: Random): ChainSpec {
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
function drawFault(random: Random): FleetSource["conducts"] {
  const fault = pick<Conduct>(
    [
      { kind: "follows", delayMs: 25 * MINUTE },
      { kind: "stopped" },
      { kind: "offset", blocks: 5_000_000 },
      { kind: "fails" },
    ],
    random,
  );
  return [
    { fromMs: 0, conduct: AT_HEAD },
    { fromMs: HOUR, conduct: fault },
    { fromMs: 2 * HOUR, conduct: AT_HEAD },
  ];
}

/** Far off, ahead or on another chain. */
function drawLie(random: Random): Conduct {
  const blocks = Math.round(5_000 * 200 ** random());
  return random() < 0.5
    ? { kind: "offset", blocks }
    : { kind: "other chain", blocks: (random() < 0.5 ? -20 : 1) * blocks, pace: 0.2 + 4 * random() };
}

function always(conduct: Conduct): FleetSource["conducts"] {
  return [{ fromMs: 0, conduct }];
}

function source(own: Partial<FleetSource> & Pick<FleetSource, "host">): FleetSource {
  return {
    kind: "indexer",
    everyMs: 15 * SECOND,
    reportsTimes: false,
    timeShiftMs: 0,
    hashing: null,
    timeouts: 0.005,
    conducts: always(AT_HEAD),
    ...own,
  };
}

function shuffled<T>(all: readonly T[], random: Random): readonly T[] {
  return all
    .map((one) => [random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function pick<T>(from: readonly T[], random: Random): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) {
    throw new RangeError("Cannot pick from nothing");
  }
  return picked;
}
