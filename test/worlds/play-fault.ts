import type { Head, Observation } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import { type ChainModel, createChain, hashOf, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerBehaviour } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import type { FaultScript } from "./fault-scripts.ts";
import type { Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

/** What was said of the struck targets (of all, where the chain or the RPC was struck), poll by poll. */
export interface FaultOutcome {
  readonly script: FaultScript;
  /** Polls from the moment it could be known to the right status of all struck; null: it never came. */
  readonly pollsToKnow: number | null;
  readonly pollsToRecover: number | null;
  /** Statuses of any target that are wrong outside the time that the two polls of grace allow. */
  readonly wrong: readonly { readonly expected: Status; readonly said: Status }[];
}

const SCHEDULE_MS = 15_000;
const SETTLE_MS = 20 * 60_000;
const GRACE_POLLS = 2;
const NODE = "rpc/bench/0";
const TARGETS = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"].map(
  keyOf,
);
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
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Plays a script: 20 min of health, the fault, and 20 min after it. */
export function playFault(script: FaultScript, start: StartCore): FaultOutcome {
  const startMs = script.fromTheStart === true ? T0 : T0 + SETTLE_MS;
  const lastsMs = script.lastsMs ?? Math.max(600_000, (script.knownAfterMs ?? 0) + 600_000);
  const endMs = startMs + lastsMs;
  const steps = stepsOf(script, start, { startMs, endMs });
  const knownMs = startMs + (script.knownAfterMs ?? 0);
  const wellMs = endMs + (script.wellAfterMs ?? 0);
  const during = steps.filter(({ atMs }) => atMs > knownMs && atMs <= endMs);
  const after = steps.filter(({ atMs }) => atMs > wellMs);
  const struck = struckKeys(script);
  const isRight =
    (expected: Status) =>
    ({ statuses }: Step) =>
      struck.every((key) => statuses.get(key) === expected);
  const wrong = (judged: readonly Step[], expected: Status) =>
    judged
      .slice(GRACE_POLLS - 1)
      .flatMap(({ statuses }) =>
        [...statuses].map(([key, said]) => ({ expected: struck.includes(key) ? expected : "ok", said })),
      )
      .filter((judgement) => judgement.expected !== judgement.said);
  return {
    script,
    pollsToKnow: countTo(during.findIndex(isRight(script.expected))),
    pollsToRecover: countTo(after.findIndex(isRight("ok"))),
    wrong: [...wrong(during, script.expected), ...wrong(after, "ok")],
  };
}

/** One row of the table. */
export function faultRowOf({
  script: { expected, incident, name },
  pollsToKnow,
  pollsToRecover,
  wrong,
}: FaultOutcome): Row {
  return {
    fault: name,
    incident,
    status: expected,
    "polls to know": pollsToKnow ?? "never",
    "polls to recover": pollsToRecover ?? "never",
    "later than 2 polls": Number(isLate(pollsToKnow) || isLate(pollsToRecover)),
    "wrong otherwise": wrong.length,
  };
}

function isLate(polls: number | null): boolean {
  return polls === null || polls > GRACE_POLLS;
}

function countTo(index: number): number | null {
  return index < 0 ? null : index + 1;
}

function targetsOf({ targets }: FaultScript): readonly string[] {
  return TARGETS.slice(0, targets ?? TARGETS.length);
}

function struckKeys(script: FaultScript): readonly string[] {
  const all = targetsOf(script);
  switch (script.strikes) {
    case undefined:
      return all.slice(-1);
    case "both variants":
      return all.slice(-2);
    default:
      return all;
  }
}

function stepsOf(script: FaultScript, start: StartCore, { endMs, startMs }: Span): readonly Step[] {
  const blockTimeMs = script.blockTimeMs ?? 2_000;
  const model = createChain({
    slug: "bench",
    id: 4689,
    blockTimeMs,
    startMs: T0,
    startBlock: 40_000_000,
    jitter: 0.2,
    paces:
      script.fault.kind === "pause"
        ? [
            { atMs: startMs, blockTimeMs: null },
            { atMs: endMs, blockTimeMs },
          ]
        : [],
  });
  const sources = [...targetsOf(script), ...(script.rpc === "present" ? [NODE] : [])];
  const struck = script.strikes === "rpc" ? [NODE] : struckKeys(script);
  const random = createRandom(script.name);
  const core = start(
    chainsOf(
      sources.map((key) => ({ key, pollIntervalMs: SCHEDULE_MS })),
      blockTimeMs,
    ),
  );
  const steps: Step[] = [];
  for (let atMs = T0; atMs < endMs + SETTLE_MS; atMs += SCHEDULE_MS) {
    const isOn = atMs >= startMs && atMs < endMs;
    const round = sources.flatMap((source) => {
      const fault = isOn && struck.includes(source) ? script.fault : null;
      return say(script, fault, { source, model, random, startMs, sentAtMs: atMs + random() });
    });
    deliver(core, round);
    const { targets } = core.report(atMs + 2_000);
    steps.push({
      atMs: atMs + 2_000,
      statuses: new Map(targets.map(({ key, status }) => [key, status])),
    });
  }
  return steps;
}

/** What a source says when it is asked at `sentAtMs`; nothing where it is not polled. `fault`: what it suffers, or null. */
function say(
  script: FaultScript,
  fault: FaultScript["fault"] | null,
  { model, random, sentAtMs, source, startMs }: Asked,
): readonly Observation[] {
  const times = { source, sentAtMs, receivedAtMs: sentAtMs + 300 };
  if (fault?.kind === "fails") {
    return [{ ...times, kind: "failed", reason: fault.reason, detail: "" }];
  }
  if (fault?.kind === "says") {
    return fault.what === "nothing" ? [] : [{ ...times, kind: fault.what }];
  }
  const changed = fault?.kind === "behaviour" ? fault.behaviour(startMs, headAt(model, startMs)) : {};
  const wrongChain = fault?.kind === "otherChain" ? OTHER_CHAIN : null;
  const behaviour: IndexerBehaviour = { ...AT_THE_TIP, wrongChain, ...changed };
  const timestamps = source === NODE ? "reported" : (script.timestamps ?? "none");
  const { observation } = poll(
    source,
    { seed: source, chain: model, behaviour },
    { sentAtMs, random, timestamps },
  );
  return observation.kind === "head" && fault !== null
    ? [{ ...observation, head: struckHead(fault, observation.head, model) }]
    : [observation];
}

interface Asked {
  readonly source: string;
  readonly model: ChainModel;
  readonly random: () => number;
  readonly startMs: number;
  readonly sentAtMs: number;
}

function struckHead(fault: FaultScript["fault"], head: Head, model: ChainModel): Head {
  switch (fault.kind) {
    case "height": {
      const timestampSec = Math.floor(timeOf(model, head.block) / 1_000);
      return { ...head, block: fault.block(head.block), timestampSec };
    }
    case "flag":
      return { ...head, indexingErrors: true };
    case "fork":
      return { ...head, hash: hashOf(model.id, head.block, "dead") };
    default:
      return head;
  }
}
