import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { parseDuration } from "../../src/config/quantities.ts";
import type { FailureReason, Head, Observation } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/statuses.ts";
import { type ChainModel, createChain, hashOf, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { AT_THE_HEAD, type IndexerBehaviour } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { startMonitor } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, polledEach } from "./fleet.ts";
import { benchChain, keyOf, poll, rounds, T0 } from "./simulated-poll.ts";

/** A row of test/fixtures/world-faults.yaml, which explains each key: the fault, and the expected statuses. */
interface FaultScript {
  readonly name: string;
  readonly incident: string;
  readonly fault: string;
  readonly expected: Status;
  readonly strikes?: "both" | "all" | "chain" | "rpc";
  readonly targets?: number;
  readonly rpc?: true;
  readonly dated?: true;
  readonly block?: string;
  readonly isOld?: true;
  readonly known?: string;
  readonly lasts?: string;
  readonly well?: string;
}

/** The statuses of the affected targets (of all, if the chain or the RPC node is affected), poll by poll. */
interface FaultOutcome {
  /** Polls from the moment at which the fault could be known until all affected targets had the right status; null: they never had it. */
  readonly pollsToKnow: number | null;
  readonly pollsToRecover: number | null;
  /** Wrong statuses of any target, apart from the two polls after each change. */
  readonly wrong: readonly { readonly expected: Status; readonly said: Status }[];
}

// The file is part of the repository, so its shape is known.
export const FAULT_SCRIPTS = parse(readFileSync("test/fixtures/world-faults.yaml", "utf8")) as FaultScript[];

const SCHEDULE_MS = 15_000;
const SETTLE_MS = 20 * 60_000;
const GRACE_POLLS = 2;
const NODE = "rpc/bench/0";
const TARGETS = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"].map(
  keyOf,
);
const OTHER_CHAIN = createChain({
  ...{ slug: "gnosis", id: 100, blockTimeMs: 5_000, startMs: T0, startBlock: 33_000_000 },
});

const FIRST_STRUCK = { both: -2, all: 0, chain: 0, rpc: 0 };

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Plays a script: 20 min of health, the fault, and 20 min after it. */
function playFault(script: FaultScript): FaultOutcome {
  const startMs = script.isOld === true ? T0 : T0 + SETTLE_MS;
  const afterMs = msOf(script.known);
  const endMs = startMs + (script.lasts === undefined ? afterMs + 600_000 : msOf(script.lasts));
  const targets = TARGETS.slice(0, script.targets);
  const struck = targets.slice(script.strikes === undefined ? -1 : FIRST_STRUCK[script.strikes]);
  const steps = stepsOf(script, { targets, struck, startMs, endMs });
  const during = steps.filter(({ atMs }) => atMs > startMs + afterMs && atMs <= endMs);
  const after = steps.filter(({ atMs }) => atMs > endMs + msOf(script.well));
  const pollsTo = (expected: Status, judged: typeof steps): number | null => {
    const isRight = ({ statuses }: (typeof steps)[number]) =>
      struck.every((key) => statuses.get(key) === expected);
    const index = judged.findIndex(isRight);
    return index < 0 ? null : index + 1;
  };
  const wrong = (expected: Status, judged: typeof steps) =>
    judged
      .slice(GRACE_POLLS - 1)
      .flatMap(({ statuses }) =>
        [...statuses].map(([key, said]) => ({ expected: struck.includes(key) ? expected : "ok", said })),
      )
      .filter((judgement) => judgement.expected !== judgement.said);
  return {
    pollsToKnow: pollsTo(script.expected, during),
    pollsToRecover: pollsTo("ok", after),
    wrong: [...wrong(script.expected, during), ...wrong("ok", after)],
  };
}

/** One row of the table. */
export function faultRowOf(script: FaultScript): Row {
  const { pollsToKnow, pollsToRecover, wrong } = playFault(script);
  const isLate = [pollsToKnow, pollsToRecover].some((polls) => polls === null || polls > GRACE_POLLS);
  return {
    fault: script.name,
    incident: script.incident,
    status: script.expected,
    "polls to know": pollsToKnow ?? "never",
    "polls to recover": pollsToRecover ?? "never",
    "later than 2 polls": Number(isLate),
    "wrong otherwise": wrong.length,
  };
}

function msOf(duration: string | undefined): number {
  return parseDuration(duration ?? "") ?? 0;
}

/** After each poll, its instant, and the status of every target. */
function stepsOf(
  script: FaultScript,
  { endMs, startMs, struck, targets }: Span & Readonly<Record<"targets" | "struck", readonly string[]>>,
) {
  const blockTimeMs = msOf(script.block ?? "2s");
  const pauses = [
    { atMs: startMs, blockTimeMs: null },
    { atMs: endMs, blockTimeMs },
  ];
  const paces = script.fault === "pauses" ? pauses : [];
  const model = benchChain({ id: 4689, blockTimeMs, startBlock: 40_000_000, jitter: 0.2, paces });
  const sources = [...targets, ...(script.rpc === true ? [NODE] : [])];
  const failing = script.strikes === "rpc" ? [NODE] : struck;
  const random = createRandom(script.name);
  const core = startMonitor(chainsOf(polledEach(SCHEDULE_MS, sources), blockTimeMs));
  const span = { fromMs: T0, toMs: endMs + SETTLE_MS, everyMs: SCHEDULE_MS };
  const played = rounds(core, span, (atMs) => {
    const isOn = atMs >= startMs && atMs < endMs;
    return sources.flatMap((source) => {
      const fault = isOn && failing.includes(source) ? script.fault : "none";
      const isDated = source === NODE || script.dated === true;
      return say(fault, { source, model, random, startMs, isDated, sentAtMs: atMs + random() });
    });
  });
  return Array.from(played, ({ atMs, report }) => ({
    atMs,
    statuses: new Map(report.targets.map(({ key, status }) => [key, status])),
  }));
}

interface Asked {
  readonly source: string;
  readonly model: ChainModel;
  readonly random: () => number;
  readonly startMs: number;
  readonly sentAtMs: number;
  readonly isDated: boolean;
}

/** What a source with this fault replies; empty if it is not polled. */
function say(
  fault: string,
  { isDated, model, random, sentAtMs, source, startMs }: Asked,
): readonly Observation[] {
  const [verb = "", what = "", pace] = fault.split(" ");
  const times = { source, sentAtMs, receivedAtMs: sentAtMs + 300 };
  if (verb === "fails") {
    return [{ ...times, kind: "failed", reason: what as FailureReason, detail: "" }];
  }
  if (verb === "says") {
    return what === "nothing" ? [] : [{ ...times, kind: what as "missing" | "not_started" }];
  }
  const fromBlock = what === "head" ? headAt(model, startMs) : Number(what);
  const changes: Readonly<Record<string, Partial<IndexerBehaviour>>> = {
    freezes: { freezeAtMs: startMs, lagBlocks: Number(what) },
    lags: { lagMs: msOf(what) },
    climbs: { catchUp: { atMs: startMs, fromBlock, blocksPerSec: Number(pace) } },
    moves: { wrongChain: OTHER_CHAIN },
  };
  const indexer = { seed: source, chain: model, behaviour: { ...AT_THE_HEAD, ...changes[verb] } };
  const timestamps = isDated ? "reported" : "none";
  const { observation } = poll(source, indexer, { sentAtMs, random, timestamps });
  if (observation.kind !== "head") {
    return [observation];
  }
  const { head } = observation;
  const timestampSec = Math.floor(timeOf(model, head.block) / 1_000);
  const heads: Readonly<Record<string, Partial<Head>>> = {
    claims: { block: Number(what), timestampSec },
    adds: { block: head.block + Number(what), timestampSec },
    flags: { indexingErrors: true },
    forks: { hash: hashOf(model.id, head.block, "dead") },
  };
  return [{ ...observation, head: { ...head, ...heads[verb] } }];
}
