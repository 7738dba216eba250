import type { WatchedChain } from "../../src/core/head/chain-state.ts";
import type { Head, Observation } from "../../src/core/model/observation.ts";
import { STATUSES, type Status } from "../../src/core/model/report.ts";
import { reportChain } from "../../src/core/report/report-chain.ts";
import { type ChainModel, createChain, hashOf, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerBehaviour, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { FaultScript } from "./fault-script.ts";
import { chainOf, deliver, newState, poll, T0, targetOf } from "./simulated-polls.ts";

/** What was said of the struck targets (of all, where the chain or the RPC was struck), poll by poll. */
export interface FaultOutcome {
  readonly script: FaultScript;
  /** Polls from the moment it could be known to the right status of all struck; null: it never came. */
  readonly pollsToKnow: number | null;
  readonly pollsToRecover: number | null;
  /** What a monitor says that trusts the last answer: up, or down, or behind the highest height by 10 min. */
  readonly naive: string;
  /** Statuses outside the time that the two polls of grace allow, with what should have stood there. */
  readonly judged: readonly { readonly expected: Status; readonly said: Status }[];
}

const SCHEDULE_MS = 15_000;
const SETTLE_MS = 20 * 60_000;
const GRACE_POLLS = 2;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"] as const;
const OTHER_CHAIN = createChain({
  slug: "gnosis",
  id: 100,
  blockTimeMs: 5_000,
  startMs: T0,
  startBlock: 33_000_000,
});

/** One poll: its instant, and the status of every target after it. */
interface Step {
  readonly atMs: number;
  readonly statuses: ReadonlyMap<string, Status>;
  readonly naive: ReadonlyMap<string, Naive>;
}

type Naive = "fine" | "behind" | "down";

/** Plays a script: 20 min of health, the fault, and 20 min after it. */
export function playFault(script: FaultScript): FaultOutcome {
  const startMs = script.fromTheStart === true ? T0 : T0 + SETTLE_MS;
  const lastsMs = script.lastsMs ?? Math.max(600_000, (script.knownAfterMs ?? 0) + 600_000);
  const endMs = startMs + lastsMs;
  const steps = play(script, { startMs, endMs });
  const knownMs = startMs + (script.knownAfterMs ?? 0);
  const wellMs = endMs + (script.wellAfterMs ?? 0);
  const during = steps.filter(({ atMs }) => atMs > knownMs && atMs <= endMs);
  const after = steps.filter(({ atMs }) => atMs > wellMs);
  const right = (expected: Status) => (step: Step) => struck(script, step).every((said) => said === expected);
  const judged = [
    ...during.slice(GRACE_POLLS - 1).flatMap((step) => judge(script, step, script.expected)),
    ...after.slice(GRACE_POLLS - 1).flatMap((step) => judge(script, step, "ok")),
  ];
  return {
    script,
    pollsToKnow: countTo(during.findIndex(right(script.expected))),
    pollsToRecover: countTo(after.findIndex(right("ok"))),
    judged,
    naive: naiveSummary(script, during.at(-1)),
  };
}

function naiveSummary(script: FaultScript, step: Step | undefined): string {
  const hit = struckKeys(script);
  const said = [...(step?.naive ?? [])];
  const of = (entries: readonly (readonly [string, Naive])[]) =>
    [...new Set(entries.map(([, what]) => what))].join("/");
  const struckSaid = of(said.filter(([key]) => hit.includes(key)));
  const others = of(said.filter(([key]) => !hit.includes(key)));
  return others === "" || others === "fine" ? struckSaid : `${struckSaid}, healthy ones ${others}`;
}

/** By the last answers alone: down, or 10 min below the highest height that anybody claims, or fine. */
function naiveOf(last: ReadonlyMap<string, Observation>, blockTimeMs: number): ReadonlyMap<string, Naive> {
  const heights = [...last.values()].map((said) => (said.kind === "head" ? said.head.block : 0));
  const highest = Math.max(...heights);
  return new Map(
    [...last].map(([key, said]) => {
      const behind = said.kind === "head" && (highest - said.head.block) * blockTimeMs > 600_000;
      const up: Naive = behind ? "behind" : "fine";
      return [key, said.kind === "head" ? up : "down"];
    }),
  );
}

/** Polls by what should have been said (rows) and what was said (columns). */
export function confusionMatrix(
  outcomes: readonly FaultOutcome[],
): readonly Readonly<Record<string, string | number>>[] {
  const judged = outcomes.flatMap((outcome) => outcome.judged);
  const seen = STATUSES.filter((status) =>
    judged.some(({ expected, said }) => expected === status || said === status),
  );
  return seen.map((expected) => {
    const row: Record<string, string | number> = { "should be": expected };
    for (const said of seen) {
      row[said] = judged.filter((entry) => entry.expected === expected && entry.said === said).length;
    }
    return row;
  });
}

function countTo(index: number): number | null {
  return index < 0 ? null : index + 1;
}

function judge(script: FaultScript, step: Step, expected: Status): FaultOutcome["judged"] {
  const hit = struckKeys(script);
  return [...step.statuses].map(([key, said]) => ({ expected: hit.includes(key) ? expected : "ok", said }));
}

function struck(script: FaultScript, { statuses }: Step): readonly Status[] {
  return struckKeys(script).map((key) => statuses.get(key) ?? "unknown");
}

function struckKeys({ strikes, targets }: FaultScript): readonly string[] {
  const names = NAMES.slice(0, targets ?? NAMES.length);
  const hit = {
    one: names.slice(-1),
    "both variants": names.slice(-2),
    all: names,
    chain: names,
    rpc: names,
  }[strikes];
  return hit.map((name) => `${name}/production/bench`);
}

function play(
  script: FaultScript,
  span: { readonly startMs: number; readonly endMs: number },
): readonly Step[] {
  const blockTimeMs = script.blockTimeMs ?? 2_000;
  const paused = script.fault.kind === "pause";
  const model = createChain({
    slug: "bench",
    id: 4689,
    blockTimeMs,
    startMs: T0,
    startBlock: 40_000_000,
    jitter: 0.2,
    paces: paused
      ? [
          { atMs: span.startMs, blockTimeMs: null },
          { atMs: span.endMs, blockTimeMs },
        ]
      : [],
  });
  const chain = chainOf(model, blockTimeMs);
  const watched: WatchedChain = {
    chain,
    targets: NAMES.slice(0, script.targets ?? NAMES.length).map((name) => targetOf(chain, name, SCHEDULE_MS)),
  };
  const random = createRandom(script.name);
  const steps: Step[] = [];
  const last = new Map<string, Observation>();
  let state = newState(watched);
  for (let atMs = T0; atMs < span.endMs + SETTLE_MS; atMs += SCHEDULE_MS) {
    const active = atMs >= span.startMs && atMs < span.endMs;
    const sources = [
      ...watched.targets.map(({ key }) => key),
      ...(script.rpc === "present" ? ["rpc/bench/0"] : []),
    ];
    const round = sources.flatMap((source) => {
      const hit = source.startsWith("rpc/")
        ? script.strikes === "rpc"
        : struckKeys(script).includes(source) && script.strikes !== "rpc";
      return say(script, {
        source,
        model,
        random,
        startMs: span.startMs,
        sentAtMs: atMs + random(),
        active: active && hit,
      });
    });
    state = deliver(state, watched, round);
    const report = reportChain(state, watched, atMs + 2_000);
    for (const said of round.filter(({ source }) => !source.startsWith("rpc/"))) {
      last.set(said.source, said);
    }
    const statuses = new Map(report.targets.map(({ target, status }) => [target.key, status]));
    steps.push({ atMs: atMs + 2_000, statuses, naive: naiveOf(last, blockTimeMs) });
  }
  return steps;
}

interface Asked {
  readonly source: string;
  readonly model: ChainModel;
  readonly random: () => number;
  readonly startMs: number;
  readonly sentAtMs: number;
  readonly active: boolean;
}

function say(script: FaultScript, asked: Asked): readonly Observation[] {
  const { fault } = script;
  const { source, sentAtMs } = asked;
  const times = { source, sentAtMs, receivedAtMs: sentAtMs + 300 };
  if (!asked.active) {
    return [answer(script, asked, {})];
  }
  if (fault.kind === "fails") {
    return [{ ...times, kind: "failed", reason: fault.reason, detail: "" }];
  }
  if (fault.kind === "says") {
    return fault.what === "nothing" ? [] : [{ ...times, kind: fault.what }];
  }
  const said = answer(script, asked, behaviourOf(fault, asked));
  return said.kind === "head" ? [{ ...said, head: changed(script, said.head, asked) }] : [said];
}

function answer(
  script: FaultScript,
  { source, model, sentAtMs, random }: Asked,
  behaviour: Partial<IndexerBehaviour>,
): Observation {
  const indexer: IndexerModel = { seed: source, chain: model, behaviour: { ...AT_THE_TIP, ...behaviour } };
  const timestamps = source.startsWith("rpc/") ? "reported" : (script.timestamps ?? "none");
  return poll(source, indexer, { sentAtMs, random, timestamps }).observation;
}

function behaviourOf(fault: FaultScript["fault"], { model, startMs }: Asked): Partial<IndexerBehaviour> {
  switch (fault.kind) {
    case "behaviour":
      return fault.behaviour(startMs, headAt(model, startMs));
    case "otherChain":
      return { wrongChain: OTHER_CHAIN };
    default:
      return {};
  }
}

function changed({ fault }: FaultScript, head: Head, { model }: Asked): Head {
  switch (fault.kind) {
    case "height":
      return {
        ...head,
        block: fault.block(head.block),
        timestampSec: Math.floor(timeOf(model, head.block) / 1_000),
      };
    case "flag":
      return { ...head, indexingErrors: true };
    case "fork":
      return { ...head, hash: hashOf(model.id, head.block, "dead") };
    default:
      return head;
  }
}
