import { type Draft, drawChain, family, hosts, type Random, RULES, source } from "./fleet-families.ts";
import { pick } from "./simulated-poll.ts";
import {
  AT_HEAD,
  always,
  type Conduct,
  HOUR,
  MINUTE,
  SECOND,
  type World,
  type WorldSource,
} from "./world.ts";
import type { ChainSpec } from "./world-chain.ts";

/** Families of worlds that follow public reports about real fleets. */
export const REPORTED_FAMILIES: Readonly<Record<string, (index: number) => World>> = {
  "a testnet whose clock is off": family("skew", clockOff),
  "testing URLs alone, every 30 minutes": family("testing", testingAlone),
  "0, 3 and 6 minutes late": family("spread", spreadOut),
  "a gateway that races three indexers": family("gateway", racingGateway),
  "a load balancer with one stale node": family("balancer", staleNode),
  "an RPC node of final blocks": family("final node", nodeOfFinalBlocks),
  "followers of final blocks, 64 to 95 deep": family("final 95", followersOfFinalBlocks),
  "a sequencer's outage and backlog": family("backlog", (random) => outageAndBacklog(random)),
  "a sequencer's backlog with the times of its schedule": family("schedule", (random) =>
    outageAndBacklog(random, "schedule"),
  ),
  "a rollback of 60 blocks, followed at different times": family("rollback", rollback),
  "a pace that changes for good": family("pace", changedPace),
  "a block in ten minutes": family("rare", rareBlocks),
  "caches of 2 to 15 minutes": family("caches", caches),
  "all but one with block times freeze, restart or slow down": family("all but one", allButOne),
  "one stops, another indexes again and passes it": family("passes", overtaken),
  "two hosts of one company": family("company", oneCompany),
  "an endpoint of another chain": family("swapped", anotherChain),
  "a chain that ended": family("ended", endedChain),
};

/** All sources report block times that are hours behind our clock. */
function clockOff(random: Random): Draft {
  const timeShiftMs = -(0.05 + 6 * random()) * HOUR;
  const count = 2 + Math.floor(random() * 3);
  return {
    chain: drawChain(random),
    sources: [
      source({ provider: "late", reportsTimes: true, timeShiftMs, conducts: always(late(8 * random())) }),
      ...hosts(count, () => ({ reportsTimes: random() < 0.7, timeShiftMs })),
    ],
  };
}

function testingAlone(random: Random): Draft {
  const count = 2 + Math.floor(random() * 2);
  return {
    lastsMs: 8 * HOUR,
    chain: { ...drawChain(random), paces: [] },
    rules: { ...RULES, settlesMs: 2 * HOUR, referenceOldMs: 35 * MINUTE },
    sources: hosts(count, (at) => ({
      pollIntervalMs: 30 * MINUTE,
      reportsTimes: random() < 0.7,
      conducts: at === 0 ? always(AT_HEAD) : always(late(5 * random())),
    })),
  };
}

function spreadOut(random: Random): Draft {
  return {
    chain: drawChain(random),
    sources: [0, 3, 6].map((minutes, at) =>
      source({ provider: `h${at}`, reportsTimes: random() < 0.5, conducts: always(late(minutes)) }),
    ),
  };
}

function racingGateway(random: Random): Draft {
  const delaysMs = [0, random() * 2 * MINUTE, random() * 6 * MINUTE];
  return {
    chain: drawChain(random),
    sources: [
      source({ provider: "gateway", reportsTimes: true, conducts: always({ kind: "races", delaysMs }) }),
      ...hosts(1 + Math.floor(random() * 2), () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

function staleNode(random: Random): Draft {
  const delaysMs = [0, 0, (0.5 + 5 * random()) * HOUR];
  return {
    chain: drawChain(random),
    sources: [
      source({
        kind: "rpc",
        provider: "node",
        reportsTimes: true,
        conducts: always({ kind: "races", delaysMs }),
      }),
      ...hosts(2, () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

function nodeOfFinalBlocks(random: Random): Draft {
  const steps: Conduct = { kind: "steps", blocks: 32, depth: 64 };
  return {
    chain: { ...drawChain(random), blockTimeMs: 12 * SECOND, paces: [] },
    sources: [
      source({ kind: "rpc", provider: "node", reportsTimes: true, conducts: always(steps) }),
      ...hosts(2, () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

/** As on Ethereum, with a block every 12 s: a block is final two epochs later. */
function followersOfFinalBlocks(random: Random): Draft {
  const steps: Conduct = { kind: "steps", blocks: 32, depth: 64 };
  const reportsTimes = random() < 0.5;
  const node = random() < 0.5 ? [source({ kind: "rpc", provider: "node", reportsTimes: true })] : [];
  return {
    chain: { ...drawChain(random), blockTimeMs: 12 * SECOND, spread: "even", paces: [] },
    headShownBy: reportsTimes || node.length > 0 ? 2 : null,
    sources: [
      source({ provider: "tip", reportsTimes }),
      ...hosts(2 + Math.floor(random() * 3), () => ({
        reportsTimes: random() < 0.5,
        conducts: always(steps),
      })),
      ...node,
    ],
  };
}

/** All sources were 60 blocks above what is left of the chain. Each stays there until it follows the rollback. */
function rollback(random: Random): Draft {
  const ahead = 60;
  const atMs = 40 * MINUTE;
  const lastMs = 5 * MINUTE;
  const followed = (afterMs: number): WorldSource["conducts"] => [
    ...always({ kind: "offset", blocks: ahead }),
    { fromMs: atMs, conduct: { kind: "stopped", ahead } },
    { fromMs: atMs + afterMs, conduct: AT_HEAD },
  ];
  const node =
    random() < 0.5
      ? [source({ kind: "rpc", provider: "node", reportsTimes: true, conducts: followed(15 * SECOND) })]
      : [];
  return {
    chain: { ...drawChain(random), paces: [] },
    // Until all sources have followed it, both heads are accepted.
    judgedFromMs: atMs + lastMs + 2 * MINUTE,
    sources: [
      ...hosts(2 + Math.floor(random() * 3), () => ({
        reportsTimes: random() < 0.5,
        conducts: followed(15 * SECOND + lastMs * random()),
      })),
      ...node,
    ],
  };
}

function outageAndBacklog(random: Random, datesBy?: ChainSpec["datesBy"]): Draft {
  const outageMs = (5 + 40 * random()) * MINUTE;
  const factor = 1 / (2 + 3 * random());
  const paces = [
    { atMs: 40 * MINUTE, forMs: outageMs, factor: null },
    { atMs: 40 * MINUTE + outageMs, forMs: (outageMs * factor) / (1 - factor), factor },
  ];
  return {
    chain: {
      ...{ ...drawChain(random), blockTimeMs: pick([250, 1_000, 2_000], random), paces },
      ...(datesBy === undefined ? {} : { datesBy, spread: "even" }),
    },
    sources: hosts(2 + Math.floor(random() * 2), () => ({ reportsTimes: random() < 0.6 })),
  };
}

function changedPace(random: Random): Draft {
  const blockTimeMs = pick([12_000, 2_000], random);
  const factor = blockTimeMs === 2_000 ? 0.25 : 0.5;
  const chain: ChainSpec = {
    ...{ ...drawChain(random), blockTimeMs },
    paces: [{ atMs: 40 * MINUTE, forMs: 24 * HOUR, factor }],
  };
  return {
    chain,
    sources: [
      source({ provider: "late", reportsTimes: random() < 0.5, conducts: always(late(5)) }),
      ...hosts(2, (at) => ({
        pollIntervalMs: at === 0 ? 15 * SECOND : pick([MINUTE, 30 * MINUTE], random),
        reportsTimes: random() < 0.5,
      })),
    ],
  };
}

function rareBlocks(random: Random): Draft {
  return {
    lastsMs: 8 * HOUR,
    chain: { blockTimeMs: 10 * MINUTE, spread: "exponential", paces: [] },
    rules: { ...RULES, settlesMs: HOUR, referenceBlocks: 1 },
    sources: hosts(3, (at) => ({
      reportsTimes: random() < 0.5,
      conducts: always(late(at === 2 ? 3 * random() : 0)),
    })),
  };
}

function caches(random: Random): Draft {
  const everyMs = (2 + 13 * random()) * MINUTE;
  return {
    chain: drawChain(random),
    rules: { ...RULES, badLooks: Number.POSITIVE_INFINITY },
    sources: [
      source({
        provider: "cached",
        reportsTimes: random() < 0.5,
        conducts: always({ kind: "batches", everyMs }),
      }),
      ...hosts(2, () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

/** The source that stays at the head has new block times; nothing else shows that it is right. */
function allButOne(random: Random): Draft {
  const chain = { ...drawChain(random), paces: [] };
  const blocks = Math.round((HOUR / chain.blockTimeMs) * (0.5 + 4 * random()));
  const wrong = pick<Conduct>(
    [
      { kind: "stopped" },
      { kind: "climbs", blocks, pace: 1.5 + 3 * random() },
      { kind: "slow", share: 0.4 + 0.4 * random() },
    ],
    random,
  );
  const conducts: WorldSource["conducts"] = [...always(AT_HEAD), { fromMs: HOUR, conduct: wrong }];
  return {
    lastsMs: 3 * HOUR,
    chain,
    sources: [
      source({ provider: "right", reportsTimes: true }),
      ...hosts(2 + Math.floor(random() * 2), () => ({ conducts })),
    ],
  };
}

function overtaken(random: Random): Draft {
  const chain = { ...drawChain(random), paces: [] };
  const climb: Conduct = {
    kind: "climbs",
    blocks: Math.round((HOUR / chain.blockTimeMs) * 3),
    pace: 3 + 7 * random(),
  };
  return {
    lastsMs: 3 * HOUR,
    chain,
    headShownBy: null,
    sources: [
      source({
        provider: "stops",
        reportsTimes: true,
        conducts: [...always(AT_HEAD), { fromMs: 40 * MINUTE, conduct: { kind: "stopped" } }],
      }),
      source({
        provider: "climbs",
        reportsTimes: true,
        conducts: [...always(AT_HEAD), { fromMs: 20 * MINUTE, conduct: climb }],
      }),
    ],
  };
}

/** Both sources of one provider fall behind together, beside one source of another provider. */
function oneCompany(random: Random): Draft {
  const conducts: WorldSource["conducts"] = [
    ...always(AT_HEAD),
    { fromMs: HOUR, conduct: pick<Conduct>([late(30), { kind: "stopped" }, { kind: "fails" }], random) },
  ];
  return {
    chain: { ...drawChain(random), paces: [] },
    sources: [
      ...hosts(2, () => ({ provider: "company", reportsTimes: random() < 0.5, conducts })),
      source({ provider: "other", reportsTimes: random() < 0.5 }),
    ],
  };
}

function anotherChain(random: Random): Draft {
  const blocks = (random() < 0.5 ? -1 : 1) * Math.round(1_000_000 * 30 ** random());
  const conduct: Conduct = { kind: "other chain", blocks, pace: 0.2 + 4 * random() };
  return {
    chain: drawChain(random),
    sources: [
      source({ provider: "other", reportsTimes: random() < 0.5, conducts: always(conduct) }),
      ...hosts(2 + Math.floor(random() * 2), () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

function endedChain(random: Random): Draft {
  const chain = drawChain(random);
  return {
    chain: { ...chain, paces: [{ atMs: 0, forMs: 100 * HOUR, factor: null }] },
    sources: [
      source({ provider: "late", reportsTimes: true, conducts: always(late(30)) }),
      ...hosts(2, () => ({ reportsTimes: random() < 0.5 })),
    ],
  };
}

function late(minutes: number): Conduct {
  return { kind: "follows", delayMs: minutes * MINUTE };
}
