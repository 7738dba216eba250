import { createRandom } from "../../src/sim/model/random.ts";
import { isNode } from "./fleet.ts";
import { pick } from "./simulated-poll.ts";
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

const TICK_MS = 15 * SECOND;
const RULES: Rules = {
  phases: "spread",
  // Three heights in a row are enough.
  settlesMs: 0,
  changeSettlesMs: 3 * TICK_MS,
  polls: 2,
  badLooks: 3,
  // The heights of a round are up to a round old at its end, and up to two where a poll failed.
  referenceOldMs: 2 * TICK_MS,
  referenceAheadMs: TICK_MS,
  referenceBlocks: 2,
  thresholdMs: MINUTE,
};
/** If all but one slow down, it takes minutes to see that; a few blocks look like uneven block times. */
const FALLING_RULES: Rules = {
  ...RULES,
  changeSettlesMs: RULES.changeSettlesMs + 3 * MINUTE,
  referenceBlocks: 6,
};

const SHORT = { lastsMs: 45 * MINUTE, restarts: [], headShownBy: 2, rules: RULES } as const;

type Random = () => number;

/** A world of three to six sources in which the honest ones are a strict majority, of providers too. */
export function randomWorld(index: number): World {
  return worldOf(`world/${index}`, drawLie);
}

/** A world with an honest majority in which the heights of another chain pass those of this one, from below or from above. */
export function passingWorld(index: number): World {
  return worldOf(`passing world/${index}`, drawPassing);
}

/** Liars that mostly tell the same lie, from the start on. */
function worldOf(seed: string, drawOwn: (random: Random, blockTimeMs: number) => Conduct): World {
  const random = createRandom(seed);
  const providers = drawProviders(random);
  const liars = drawLiars(providers, random);
  const chain = drawChain(random);
  const lie = drawOwn(random, chain.blockTimeMs);
  const sources = drawSources(providers, (provider, at): WorldSource => {
    const ownLie = random() < 0.5 ? lie : drawOwn(random, chain.blockTimeMs);
    return newSource(at, provider, always(liars.has(at) ? ownLie : AT_HEAD), random);
  });
  return { ...SHORT, seed, chain, sources };
}

/** Nine hours in which liars come and go, sources and the daemon restart, polls fail, and cadences differ. */
export function longWorld(index: number): World {
  const seed = `long world/${index}`;
  const random = createRandom(seed);
  const providers = drawProviders(random);
  const liars = drawLiars(providers, random);
  const chain = drawChain(random);
  const lastsMs = 9 * HOUR;
  const sources = drawSources(providers, (provider, at): WorldSource => {
    const conducts = liars.has(at) ? comingAndGoing(random, lastsMs) : withBreaks(random, lastsMs);
    const source = newSource(at, provider, conducts, random);
    const isSlow = !source.key.startsWith("rpc/") && random() < 0.15;
    return { ...source, timeouts: 0.01, pollIntervalMs: isSlow ? 30 * MINUTE : TICK_MS };
  });
  const firstMs = onTick(random() * 3 * HOUR + 2 * HOUR);
  const secondMs = onTick(random() * 2 * HOUR + 6 * HOUR);
  const restarts: World["restarts"] = [
    { atMs: firstMs, state: "kept" },
    { atMs: secondMs, state: random() < 0.5 ? "kept" : "lost" },
  ];
  return { ...SHORT, seed, chain, lastsMs, sources, restarts };
}

/** A world with an honest majority in which the daemon restarts twice: with its state file, and then with it or without. */
export function restartWorld(index: number): World {
  const world = randomWorld(index);
  const random = createRandom(`restart world/${index}`);
  const at = (fromMin: number, toMin: number): number =>
    onTick((fromMin + random() * (toMin - fromMin)) * MINUTE);
  return {
    ...world,
    restarts: [
      { atMs: at(0.25, 15), state: "kept" },
      { atMs: at(16, 40), state: index % 2 === 0 ? "kept" : "lost" },
    ],
  };
}

/**
 * For twenty minutes, sources that are honest otherwise repeat the lie of a liar, which then has the majority. The daemon
 * restarts with that state at the moment at which they are honest again.
 */
export function takeoverWorld(index: number): World {
  const world = randomWorld(index);
  const untilMs = 20 * MINUTE;
  const isHonest = ({ conducts }: WorldSource): boolean =>
    conducts.every(({ conduct }) => conduct === AT_HEAD);
  const lie = world.sources.find((source) => !isHonest(source))?.conducts[0]?.conduct ?? {
    kind: "offset",
    blocks: 1_000_000,
  };
  // One source stays honest all the time: it must not be `diverged` once the others are honest again.
  const [, ...joining] = world.sources.filter(isHonest);
  return {
    ...world,
    seed: `takeover ${world.seed}`,
    sources: world.sources.map((source) =>
      joining.includes(source)
        ? { ...source, conducts: [...always(lie), { fromMs: untilMs, conduct: AT_HEAD }] }
        : source,
    ),
    restarts: [{ atMs: untilMs, state: "kept" }],
    // A step back counts after three low replies, and a status changes with the second poll that says so.
    judgedFromMs: untilMs + 5 * TICK_MS,
  };
}

/** All sources but one fall behind at once or gradually, or stop, after half an hour in which all were level. */
export function fallingWorld(index: number): World {
  const seed = `falling world/${index}`;
  const random = createRandom(seed);
  const chain = drawChain(random);
  const count = 2 + Math.floor(random() * 4);
  const areDated = pick([false, true], random);
  const fromMs = 30 * MINUTE;
  const behindMs = (2 + random() * 180) * MINUTE;
  const conduct = pick<Conduct>(
    [
      { kind: "offset", blocks: -Math.ceil(behindMs / chain.blockTimeMs) },
      { kind: "slow", share: random() * 0.9 },
      { kind: "stopped" },
    ],
    random,
  );
  const sources = Array.from({ length: count }, (_, at): WorldSource => {
    const conducts = [...always(AT_HEAD), ...(at === 0 ? [] : [{ fromMs, conduct }])];
    const provider = at === 0 ? "alone" : pick(["gateway", `host ${at}`], random);
    const source = newSource(at, provider, conducts, random);
    const reportsTimes = areDated && source.reportsTimes;
    return { ...source, key: `p${at}/v${at}/production/bench`, reportsTimes };
  });
  return {
    ...SHORT,
    ...{ seed, chain, lastsMs: 3 * HOUR, sources },
    headShownBy: 1,
    rules: FALLING_RULES,
  };
}

/** One source for each provider; RPC nodes are numbered in the order of chains.yaml. */
function drawSources(
  providers: readonly string[],
  draw: (provider: string, at: number) => WorldSource,
): readonly WorldSource[] {
  let nodes = 0;
  return providers.map((provider, at) => {
    const source = draw(provider, at);
    return isNode(source) ? { ...source, key: `rpc/bench/${nodes++}` } : source;
  });
}

/** Three to six sources, of which some share a provider. */
function drawProviders(random: Random): readonly string[] {
  const count = 3 + Math.floor(random() * 4);
  return Array.from({ length: count }, (_, at) =>
    at > 0 && random() < 0.25 ? `host ${Math.floor(random() * at)}` : `host ${at}`,
  );
}

/** One or two liars, so that more than half of the providers have none. */
function drawLiars(providers: readonly string[], random: Random): ReadonlySet<number> {
  const all = new Set(providers);
  for (;;) {
    const wanted = 1 + Math.floor(random() * 2);
    const liars = new Set<number>();
    while (liars.size < wanted) {
      liars.add(Math.floor(random() * providers.length));
    }
    const lying = new Set(providers.filter((_, at) => liars.has(at)));
    if (all.size - lying.size > all.size / 2) {
      return liars;
    }
    if (all.size < 3) {
      return new Set();
    }
  }
}

function drawChain(random: Random): World["chain"] {
  return { blockTimeMs: pick([250, 2_000, 12_000], random), spread: "even", paces: [] };
}

function drawLie(random: Random): Conduct {
  const blocks = Math.round(500 * 2_000 ** random());
  switch (Math.floor(random() * 6)) {
    case 0:
    case 1:
      return { kind: "offset", blocks };
    case 2:
      return { kind: "other chain", blocks: (random() < 0.5 ? -20 : 1) * blocks, pace: 0.2 + random() * 4 };
    case 3:
      return { kind: "offset", blocks, timeShiftMs: (10 + random() * 100_000) * MINUTE };
    case 4:
      return { kind: "offset", blocks: -blocks };
    default:
      return { kind: "stopped" };
  }
}

/** Another chain that is level with this one for a moment, between the fifth minute and the fortieth. */
function drawPassing(random: Random, blockTimeMs: number): Conduct {
  const pace = 0.2 + random() * 4;
  const levelMs = (5 + random() * 35) * MINUTE;
  return { kind: "other chain", blocks: Math.round((levelMs / blockTimeMs) * (1 - pace)), pace };
}

/** The source lies for ten minutes to an hour, and is then honest for the same time. */
function comingAndGoing(random: Random, lastsMs: number): WorldSource["conducts"] {
  const conducts: { fromMs: number; conduct: Conduct }[] = [];
  for (let fromMs = 0, lies = random() < 0.5; fromMs < lastsMs; lies = !lies) {
    conducts.push({ fromMs, conduct: lies ? drawLie(random) : AT_HEAD });
    fromMs += (10 + random() * 50) * MINUTE;
  }
  return conducts;
}

/** Honest, with a restart now and then. */
function withBreaks(random: Random, lastsMs: number): WorldSource["conducts"] {
  const conducts: { fromMs: number; conduct: Conduct }[] = [...always(AT_HEAD)];
  for (let atMs = (1 + random() * 3) * HOUR; atMs < lastsMs; atMs += (1 + random() * 4) * HOUR) {
    conducts.push({ fromMs: atMs, conduct: { kind: "fails" } });
    conducts.push({ fromMs: atMs + (1 + random() * 3) * MINUTE, conduct: AT_HEAD });
  }
  return conducts;
}

function newSource(
  at: number,
  provider: string,
  conducts: WorldSource["conducts"],
  random: Random,
): WorldSource {
  const isRpc = at > 0 && random() < 0.2;
  return {
    key: isRpc ? `rpc/bench/${at}` : `p${at}/v${at}/production/bench`,
    provider,
    reportsTimes: isRpc || random() < 0.5,
    pollIntervalMs: TICK_MS,
    timeShiftMs: 0,
    hashing: null,
    timeouts: 0,
    conducts,
  };
}

/** The tick at or before an instant. */
function onTick(atMs: number): number {
  return TICK_MS * Math.floor(atMs / TICK_MS);
}
