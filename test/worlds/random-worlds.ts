import { createRandom } from "../../src/sim/model/random.ts";
import { isNode } from "./fleet.ts";
import type { Conduct, World, WorldSource } from "./play-world.ts";
import { pick } from "./simulated-poll.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TICK_MS = 15_000;
const HONEST: Conduct = { kind: "honest" };

type Random = () => number;

/** A world of three to six sources in which the honest ones are a strict majority, of providers too. */
export function randomWorld(index: number): World {
  const seed = `world/${index}`;
  const random = createRandom(seed);
  const providers = drawProviders(random);
  const liars = drawLiars(providers, random);
  const blockTimeMs = pick([250, 2_000, 12_000], random);
  const lie = drawLie(random);
  const sources = drawSources(providers, (provider, at): WorldSource => {
    const ownLie = random() < 0.5 ? lie : drawLie(random);
    const conducts = [{ fromMs: 0, conduct: liars.has(at) ? ownLie : HONEST }];
    return newSource({ at, provider, random, conducts });
  });
  return { seed, blockTimeMs, lastsMs: 45 * MINUTE, sources, restarts: [], honestMajority: "always" };
}

/** A world with an honest majority in which the heights of another chain pass those of this one, from below or from above. */
export function passingWorld(index: number): World {
  const seed = `passing world/${index}`;
  const random = createRandom(seed);
  const providers = drawProviders(random);
  const liars = drawLiars(providers, random);
  const blockTimeMs = pick([250, 2_000, 12_000], random);
  const lie = drawPassing(random, blockTimeMs);
  const sources = drawSources(providers, (provider, at): WorldSource => {
    const ownLie = random() < 0.5 ? lie : drawPassing(random, blockTimeMs);
    const conducts = [{ fromMs: 0, conduct: liars.has(at) ? ownLie : HONEST }];
    return newSource({ at, provider, random, conducts });
  });
  return { seed, blockTimeMs, lastsMs: 45 * MINUTE, sources, restarts: [], honestMajority: "always" };
}

/** Nine hours in which liars come and go, sources and the daemon restart, polls fail, and cadences differ. */
export function longWorld(index: number): World {
  const seed = `long world/${index}`;
  const random = createRandom(seed);
  const providers = drawProviders(random);
  const liars = drawLiars(providers, random);
  const blockTimeMs = pick([250, 2_000, 12_000], random);
  const lastsMs = 9 * HOUR;
  const sources = drawSources(providers, (provider, at): WorldSource => {
    const conducts = liars.has(at) ? comingAndGoing(random, lastsMs) : withBreaks(random, lastsMs);
    const source = newSource({ at, provider, random, conducts });
    const isSlow = !source.key.startsWith("rpc/") && random() < 0.15;
    return { ...source, failures: 0.01, pollIntervalMs: isSlow ? 30 * MINUTE : 15_000 };
  });
  const restarts = [
    { atMs: onTick(random() * 3 * HOUR + 2 * HOUR), state: "kept" as const },
    {
      atMs: onTick(random() * 2 * HOUR + 6 * HOUR),
      state: random() < 0.5 ? ("kept" as const) : ("lost" as const),
    },
  ];
  return { seed, blockTimeMs, lastsMs, sources, restarts, honestMajority: "always" };
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
 * For twenty minutes those who are honest otherwise all tell the lie of a liar, who has the majority then; the daemon
 * restarts with that state at the moment at which they are honest again.
 */
export function takeoverWorld(index: number): World {
  const world = randomWorld(index);
  const untilMs = 20 * MINUTE;
  const lie = world.sources.flatMap(({ conducts }) =>
    conducts.map(({ conduct }) => conduct).filter(({ kind }) => kind !== "honest"),
  )[0] ?? { kind: "offset", blocks: 1_000_000, timeShiftMs: 0 };
  const honest = world.sources.filter(({ conducts }) =>
    conducts.every(({ conduct }) => conduct.kind === "honest"),
  );
  // One stays honest throughout: it is not to be accused once the others are honest again.
  const joining = new Set(honest.slice(1).map(({ key }) => key));
  return {
    ...world,
    seed: `takeover ${world.seed}`,
    sources: world.sources.map((source) =>
      joining.has(source.key)
        ? {
            ...source,
            conducts: [
              { fromMs: 0, conduct: lie },
              { fromMs: untilMs, conduct: { kind: "honest" } },
            ],
          }
        : source,
    ),
    restarts: [{ atMs: untilMs, state: "kept" }],
    judgedFromMs: untilMs,
  };
}

/** All but one fall behind at once or gradually, or stand still, after half an hour in which all were level. */
export function fallingWorld(index: number): World {
  const seed = `falling world/${index}`;
  const random = createRandom(seed);
  const blockTimeMs = pick([250, 2_000, 12_000], random);
  const count = 2 + Math.floor(random() * 4);
  const times = pick(["none", "some"], random);
  const fromMs = 30 * MINUTE;
  const behindMs = (2 + random() * 180) * MINUTE;
  const conduct = pick<Conduct>(
    [
      { kind: "offset", blocks: -Math.ceil(behindMs / blockTimeMs), timeShiftMs: 0 },
      { kind: "slow", share: random() * 0.9 },
      { kind: "stopped" },
    ],
    random,
  );
  const sources = Array.from({ length: count }, (_, at): WorldSource => {
    const conducts = [{ fromMs: 0, conduct: HONEST }, ...(at === 0 ? [] : [{ fromMs, conduct }])];
    const source = newSource({
      at,
      provider: at === 0 ? "alone" : pick(["gateway", `host ${at}`], random),
      random,
      conducts,
    });
    return {
      ...source,
      key: `p${at}/v${at}/production/bench`,
      reportsTimes: times === "some" && source.reportsTimes,
    };
  });
  return { seed, blockTimeMs, lastsMs: 3 * HOUR, sources, restarts: [], honestMajority: "never" };
}

/** One source of each provider; RPC nodes are numbered in their order, as those of a chains.yaml are. */
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

/** One or two sources, so that the providers without a liar are more than half. */
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

function drawLie(random: Random): Conduct {
  const blocks = Math.round(500 * 2_000 ** random());
  switch (Math.floor(random() * 6)) {
    case 0:
    case 1:
      return { kind: "offset", blocks, timeShiftMs: 0 };
    case 2:
      return { kind: "other chain", blocks: (random() < 0.5 ? -20 : 1) * blocks, pace: 0.2 + random() * 4 };
    case 3:
      return { kind: "offset", blocks, timeShiftMs: (10 + random() * 100_000) * MINUTE };
    case 4:
      return { kind: "offset", blocks: -blocks, timeShiftMs: 0 };
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

/** Lies for ten minutes to an hour, and is honest for as long. */
function comingAndGoing(random: Random, lastsMs: number): WorldSource["conducts"] {
  const conducts: { fromMs: number; conduct: Conduct }[] = [];
  for (let fromMs = 0, lies = random() < 0.5; fromMs < lastsMs; lies = !lies) {
    conducts.push({ fromMs, conduct: lies ? drawLie(random) : HONEST });
    fromMs += (10 + random() * 50) * MINUTE;
  }
  return conducts;
}

/** Honest, with a restart now and then. */
function withBreaks(random: Random, lastsMs: number): WorldSource["conducts"] {
  const conducts: { fromMs: number; conduct: Conduct }[] = [{ fromMs: 0, conduct: HONEST }];
  for (let atMs = (1 + random() * 3) * HOUR; atMs < lastsMs; atMs += (1 + random() * 4) * HOUR) {
    conducts.push({ fromMs: atMs, conduct: { kind: "fails" } });
    conducts.push({ fromMs: atMs + (1 + random() * 3) * MINUTE, conduct: HONEST });
  }
  return conducts;
}

function newSource({
  at,
  provider,
  random,
  conducts,
}: {
  readonly at: number;
  readonly provider: string;
  readonly random: Random;
  readonly conducts: WorldSource["conducts"];
}): WorldSource {
  const isRpc = at > 0 && random() < 0.2;
  return {
    key: isRpc ? `rpc/bench/${at}` : `p${at}/v${at}/production/bench`,
    provider,
    reportsTimes: isRpc || random() < 0.5,
    pollIntervalMs: 15_000,
    failures: 0,
    conducts,
  };
}

/** The tick at or before an instant. */
function onTick(atMs: number): number {
  return TICK_MS * Math.floor(atMs / TICK_MS);
}
