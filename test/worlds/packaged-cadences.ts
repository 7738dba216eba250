import { parseConfig } from "../../src/config/parse.ts";
import { endpointsOf, type Fleet, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, TargetReport } from "../../src/core/model/report.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { createRandom } from "../../src/sim/model/random.ts";

/** Four hours of one chain with the packaged cadences. All sources are at the head, except for the laggard. */
export interface CadenceWorld {
  readonly seed: number;
  /** How the time between two blocks varies around its mean. */
  readonly spread: "even" | "±30 %" | "exponential";
  /** Whether the chain stands still for minutes, twice. */
  readonly pauses: boolean;
  /** Whether one target is 25 minutes behind. */
  readonly hasLaggard: boolean;
}

/** Every family of worlds. */
export const WORLDS: readonly Omit<CadenceWorld, "seed">[] = (
  ["even", "±30 %", "exponential"] as const
).flatMap((spread) =>
  [false, true].flatMap((pauses) => [false, true].map((hasLaggard) => ({ spread, pauses, hasLaggard }))),
);

/** An instant to count from: 2026-11-20T00:00:00Z. */
const T0 = 1_795_132_800_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const LASTS_MS = 240 * MINUTE_MS;
/** Before these instants the sources, or the history that a lag of 25 minutes is measured by, are too few. */
const REFERENCE_FROM_MS = 5 * MINUTE_MS;
const LAGS_FROM_MS = 30 * MINUTE_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const START_BLOCK = 40_000_000;
const BLOCK_TIMES_MS = [250, 750, 2_000, 5_000, 12_000];
/** The chain makes no block after these instants for a while. */
const PAUSES_AT_MS = [70 * MINUTE_MS, 170 * MINUTE_MS];
const BEHIND_MS = 25 * MINUTE_MS;
/** How old the reference may be. */
const REFERENCE_TOLERATED_MS = 75 * SECOND_MS;
/** How wrong a lag may be. */
const LAG_TOLERATED_MS = 150 * SECOND_MS;
/** At the edges of a standstill of this length a lag depends on the instant at which each source was asked. */
const STANDSTILL_MS = MINUTE_MS;
const EDGE_MS = 3 * MINUTE_MS;

/** Plays a world through the monitor, looks at its report every five seconds, and returns all that was wrong. */
export function playCadences(world: CadenceWorld): readonly string[] {
  const random = createRandom(JSON.stringify(world));
  const blockTimeMs = pick(BLOCK_TIMES_MS, random);
  const chain = chainOf(world, blockTimeMs, random);
  const fleet = fleetOf(blockTimeMs, random() < 0.7);
  const sources = sourcesOf(fleet, world, random);
  const laggard = sources.find(({ behindMs }) => behindMs === BEHIND_MS)?.key ?? null;
  const reads = new Map<string, Read>();
  let nowMs = T0;
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const wrong: string[] = [];
  for (let atMs = 0; atMs < LASTS_MS; atMs += LOOK_EVERY_MS) {
    const due = sources.filter(({ everyMs }) => atMs % everyMs === 0);
    const replies = due.map((source) => ask(source, chain, { atMs: T0 + atMs, random }));
    for (const { observation, read } of replies.toSorted(
      (a, b) => a.read.receivedAtMs - b.read.receivedAtMs,
    )) {
      nowMs = read.receivedAtMs;
      reads.set(observation.source, read);
      monitor.observe([observation]);
    }
    nowMs = T0 + atMs + LOOK_EVERY_MS;
    const found = monitor
      .report()
      .chains.flatMap((report) => [
        ...(atMs < REFERENCE_FROM_MS ? [] : wrongReference(report, chain, nowMs)),
        ...(atMs < LAGS_FROM_MS ? [] : wrongTargets(report, { chain, laggard, nowMs, reads })),
      ]);
    wrong.push(...found.map((what) => `after ${atMs / MINUTE_MS} min ${what}`));
  }
  return wrong;
}

interface Source {
  readonly key: string;
  readonly everyMs: number;
  readonly behindMs: number;
  readonly isDated: boolean;
}

function sourcesOf(fleet: Fleet, { hasLaggard }: CadenceWorld, random: () => number): readonly Source[] {
  const sources = endpointsOf(fleet).flatMap((endpoint) =>
    sourceKeysOf(endpoint).map((key) => ({
      key,
      everyMs: endpoint.pollIntervalMs,
      behindMs: random() * 5 * SECOND_MS,
      isDated: !key.includes("/multichain/"),
    })),
  );
  const often = sources.filter(({ everyMs, key }) => everyMs <= MINUTE_MS && !key.startsWith("rpc/"));
  const laggard = hasLaggard ? pick(often, random) : null;
  return sources.map((source) => (source === laggard ? { ...source, behindMs: BEHIND_MS } : source));
}

/** The height of a source, read halfway between request and reply. */
function ask(
  { behindMs, isDated, key }: Source,
  chain: Chain,
  { atMs, random }: { readonly atMs: number; readonly random: () => number },
): { readonly observation: Observation; readonly read: Read } {
  const sentAtMs = atMs + random() * 200;
  const receivedAtMs = sentAtMs + 20 + random() * 880;
  const readAtMs = (sentAtMs + receivedAtMs) / 2;
  const block = chain.headAt(readAtMs - behindMs);
  const timestampSec = isDated ? Math.floor(chain.timeOf(block) / 1_000) : null;
  const head = { block, timestampSec, hash: null, deployment: null, indexingErrors: null };
  return {
    observation: { kind: "head", source: key, sentAtMs, receivedAtMs, head },
    read: { block, readAtMs, receivedAtMs },
  };
}

interface Read {
  readonly block: number;
  readonly readAtMs: number;
  readonly receivedAtMs: number;
}

interface Truth {
  readonly chain: Chain;
  readonly laggard: string | null;
  readonly nowMs: number;
  readonly reads: ReadonlyMap<string, Read>;
}

function wrongReference({ reference }: ChainReport, chain: Chain, nowMs: number): readonly string[] {
  if (reference === null) {
    return ["no reference"];
  }
  const { block } = reference;
  const isRight = block >= chain.headAt(nowMs - REFERENCE_TOLERATED_MS) && block <= chain.headAt(nowMs);
  return isRight ? [] : [`the reference ${block} is ${block - chain.headAt(nowMs)} blocks off`];
}

function wrongTargets({ targets }: ChainReport, truth: Truth): readonly string[] {
  return targets
    .filter((target) => !isStatusRight(target, truth) || !isLagRight(target, truth))
    .map(({ lagMs, status, target: { key } }) => `${key} is ${status}, ${lagMs} ms behind`);
}

function isStatusRight({ status, target: { key } }: TargetReport, { laggard }: Truth): boolean {
  return key === laggard ? status === "lagging" || status === "syncing" : status === "ok";
}

/** A lag that is not known is not wrong where the height may be older than the known history of the chain. */
function isLagRight(
  { lagExtrapolated, lagMs, target: { key, pollIntervalMs } }: TargetReport,
  { chain, nowMs, reads }: Truth,
): boolean {
  const read = reads.get(key);
  const isUneven = [nowMs, nowMs - BEHIND_MS].some((atMs) => chain.stoodStill(atMs - EDGE_MS, atMs));
  if (read === undefined || isUneven) {
    return true;
  }
  if (lagMs === null) {
    return pollIntervalMs > MINUTE_MS;
  }
  const lagAt = (atMs: number) =>
    Math.max(0, chain.timeOf(chain.headAt(atMs)) - chain.timeOf(read.block + 1));
  const toleratedMs = LAG_TOLERATED_MS + (lagExtrapolated ? BEHIND_MS / 3 : 0);
  return lagMs >= lagAt(read.readAtMs) - toleratedMs && lagMs <= lagAt(nowMs) + toleratedMs;
}

interface Chain {
  /** The newest block at an instant. */
  readonly headAt: (atMs: number) => number;
  readonly timeOf: (block: number) => number;
  readonly stoodStill: (fromMs: number, toMs: number) => boolean;
}

function chainOf({ pauses, spread }: CadenceWorld, blockTimeMs: number, random: () => number): Chain {
  const standsMs = PAUSES_AT_MS.map((atMs) => ({
    atMs: T0 + atMs,
    forMs: (0.25 + 7 * random()) * MINUTE_MS,
  }));
  const open = pauses ? standsMs : [];
  const timesMs: number[] = [];
  for (let timeMs = T0 - BEHIND_MS - MINUTE_MS; timeMs < T0 + LASTS_MS + MINUTE_MS; ) {
    timesMs.push(timeMs);
    timeMs += blockTimeMs * shareOf(spread, random);
    if (open[0] !== undefined && timeMs >= open[0].atMs) {
      timeMs += open.shift()?.forMs ?? 0;
    }
  }
  const timeOf = (block: number) => timesMs[block - START_BLOCK] ?? Number.NaN;
  const headAt = (atMs: number) => {
    let [low, high] = [0, timesMs.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      [low, high] = (timesMs[middle] ?? 0) <= atMs ? [middle, high] : [low, middle];
    }
    return START_BLOCK + low;
  };
  const stoodStill = (fromMs: number, toMs: number) => {
    const blocks = timesMs.slice(headAt(fromMs) - START_BLOCK, headAt(toMs) - START_BLOCK + 2);
    return blocks.some((timeMs, index) => timeMs - (blocks[index - 1] ?? timeMs) >= STANDSTILL_MS);
  };
  return { headAt, timeOf, stoodStill };
}

function shareOf(spread: CadenceWorld["spread"], random: () => number): number {
  switch (spread) {
    case "even":
      return 1;
    case "±30 %":
      return 0.7 + 0.6 * random();
    case "exponential":
      return -Math.log(1 - random());
  }
}

/** Two protocols as in the packaged chains.yaml: gateways are asked twice an hour, for their budget allows no more. */
function fleetOf(blockTimeMs: number, hasNode: boolean): Fleet {
  const indexers = `
    - { variant: multichain, dialect: envio, url: "https://envio.example/{protocol}", chains: [bench], schedule: "*/15 * * * * *" }
    - { variant: subgraph, dialect: graph, url: "https://gateway.example/{protocol}", chains: [bench], schedule: "0 */30 * * * *" }
    - { variant: subgraph, tier: testing, dialect: graph, url: "https://studio.example/{protocol}", chains: [bench], schedule: "0 * * * * *" }`;
  const text = `
version: 1
chains:
  bench: { id: 10, name: Bench, block_time: ${blockTimeMs / 1_000}s${hasNode ? `, rpc: ["https://node.example/"]` : ""} }
protocols:
  airdrops: ${indexers}
  lockup: ${indexers}
`;
  return parseConfig(text, { file: "cadences.yaml", env: {}, readFile: () => "" }).fleet;
}

function pick<T>(all: readonly T[], random: () => number): T {
  const picked = all[Math.floor(random() * all.length)];
  if (picked === undefined) {
    throw new Error("Cannot pick one of nothing");
  }
  return picked;
}
