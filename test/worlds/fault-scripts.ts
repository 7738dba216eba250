import type { FailureReason } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import type { IndexerBehaviour } from "../../src/sim/model/indexer-model.ts";

/** What goes wrong with a target from one instant to another, and what should be said of it. */
export interface FaultScript {
  readonly name: string;
  /** The public incident that it is taken from, or `rule` where it tests one of our own. */
  readonly incident: string;
  /** Default: one target; the others stay healthy. `chain` changes the chain itself, `rpc` the RPC node. */
  readonly strikes?: "both variants" | "all" | "chain" | "rpc";
  /** What is different from the start of the fault on, until it is healed. */
  readonly fault: Fault;
  readonly expected: Status;
  /** How long after the start it can be known at the earliest, beside the polls themselves. */
  readonly knownAfterMs?: number;
  /** How long after the healing the target itself needs to be well again. */
  readonly wellAfterMs?: number;
  readonly lastsMs?: number;
  /** A source beside the targets. */
  readonly rpc?: "present";
  readonly timestamps?: "reported";
  /** Default: 2 s. */
  readonly blockTimeMs?: number;
  /** Only so many of the four targets exist. */
  readonly targets?: 1 | 2;
  /** It is there from the very first poll. */
  readonly fromTheStart?: true;
}

type Fault =
  | { readonly kind: "fails"; readonly reason: FailureReason }
  | { readonly kind: "says"; readonly what: "missing" | "not_started" | "nothing" }
  | { readonly kind: "behaviour"; readonly behaviour: Behaviour }
  | { readonly kind: "height"; readonly block: (truth: number) => number }
  | { readonly kind: "flag" | "fork" | "otherChain" | "pause" };

type Behaviour = (startMs: number, headAtStart: number) => Partial<IndexerBehaviour>;
type Rest = Omit<FaultScript, "name" | "incident" | "expected" | "fault">;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The last advance is seen at the first poll of the fault: from there a standstill counts. */
const STALLED = { knownAfterMs: 10 * MINUTE + 15_000 };
/** From the third poll on. */
const BEHIND = { knownAfterMs: 30_000 };
const BOTH = { strikes: "both variants" } as const;
const BOTH_STALL = { ...BOTH, ...STALLED };
const ALL_STALL = { strikes: "all", ...STALLED } as const;
const FIRST_SEEN = { fromTheStart: true } as const;
const NODE = { strikes: "rpc", rpc: "present" } as const;
const REPORTED = { timestamps: "reported" } as const;

const FROZEN = behaviour((startMs) => ({ freezeAtMs: startMs }));
const PAUSE = { kind: "pause" } as const;
const HALT = { strikes: "chain", ...STALLED, wellAfterMs: 15_000, lastsMs: 20 * MINUTE } as const;

/** The scripted faults. */
export const FAULT_SCRIPTS: readonly FaultScript[] = [
  // A lone timeout is everyday: that there is a fault can be known from the second one on.
  fails("timeout", "unreachable", "rainlanguage/rain.solver#127", { knownAfterMs: 15_000 }),
  fails("dns", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("connect", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("tls", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("http_status", "unreachable", "yearn/monitoring#325"),
  fails("rate_limited", "throttled", "rule"),
  fails("budget", "throttled", "rule"),
  fails("unauthorized", "rejected", "sablier-labs/indexers#298"),
  fails("payment_required", "rejected", "sablier-labs/indexers#298"),
  fails("not_found", "not_found", "sablier-labs/indexers#337"),
  fails("no_indexers", "unreachable", "sablier-labs/indexers#298"),
  fails("indexing_error", "failed", "sablier-labs/indexers#298"),
  fails("graphql", "unreachable", "rainlanguage/rain.solver#127"),
  fails("schema", "not_found", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("malformed", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("too_large", "unreachable", "rainlanguage/rain.solver#127"),
  fails("implausible", "diverged", "rule"),
  of("the answer lacks the chain", "yearn/monitoring#325", "missing", says("missing")),
  of("both variants lack the chain", "sablier-labs/indexers#337", "missing", says("missing"), BOTH),
  of("not started", "rule", "syncing", says("not_started")),
  of(
    "parks at its last block, as Envio does",
    "yearn/monitoring#325, enviodev/hyperindex#1644",
    "stalled",
    FROZEN,
    STALLED,
  ),
  of("halts with hasIndexingErrors still false", "livepeer/explorer#733", "stalled", FROZEN, {
    ...REPORTED,
    ...STALLED,
  }),
  of(
    "both variants of a protocol freeze",
    "midnightntwrk/midnight-indexer#1457",
    "stalled",
    FROZEN,
    BOTH_STALL,
  ),
  of("every indexer freezes, no RPC", "midnightntwrk/midnight-indexer#1457", "stalled", FROZEN, ALL_STALL),
  of(
    "every indexer freezes, an RPC goes on",
    "snapshot-labs/sx-monorepo#2163, ponder-sh/ponder#2264",
    "stalled",
    FROZEN,
    { ...ALL_STALL, rpc: "present" },
  ),
  of("the chain halts, an RPC shows it", "rule", "chain_halted", PAUSE, { ...HALT, rpc: "present" }),
  of("the chain halts, no RPC", "rule", "stalled", PAUSE, HALT),
  of("the chain pauses for 5 min", "graphprotocol/graph-node#5586", "ok", PAUSE, {
    strikes: "chain",
    lastsMs: 5 * MINUTE,
  }),
  of("the RPC node freezes", "greenpill-dev-guild/green-goods#480", "ok", FROZEN, {
    ...NODE,
    lastsMs: 20 * MINUTE,
  }),
  of("the RPC node claims +30 million", "erpc/erpc#1154", "ok", adds(30_000_000), NODE),
  of(
    "stuck after a false reorg",
    "graphprotocol/graph-node#5586",
    "stalled",
    behaviour((startMs) => ({ freezeAtMs: startMs, lagBlocks: 20 })),
    STALLED,
  ),
  of("falls 18 h behind at once", "greenpill-dev-guild/green-goods#480", "lagging", lags(18 * HOUR), BEHIND),
  of(
    "18 h behind when first seen",
    "greenpill-dev-guild/green-goods#480",
    "lagging",
    lags(18 * HOUR),
    FIRST_SEEN,
  ),
  of(
    "indexes at half the chain's pace",
    "ponder-sh/ponder#2264",
    "lagging",
    behaviour((startMs, head) => ({ catchUp: { atMs: startMs, fromBlock: head, blocksPerSec: 0.25 } })),
    { knownAfterMs: 20 * MINUTE, lastsMs: 40 * MINUTE },
  ),
  of(
    "re-indexes from genesis",
    "OlympusDAO/olympus-protocol-metrics-subgraph#355",
    "syncing",
    behaviour(fromGenesis),
    BEHIND,
  ),
  of("back-fills when first seen", "messari/subgraphs#2642", "syncing", behaviour(fromGenesis), {
    ...FIRST_SEEN,
    knownAfterMs: 15_000,
  }),
  of(
    "stuck far behind when first seen",
    "messari/subgraphs#2642",
    "stalled",
    behaviour((startMs) => ({ freezeAtMs: startMs, lagBlocks: 3_400_000 })),
    { ...FIRST_SEEN, ...STALLED },
  ),
  of("claims +30 million", "erpc/erpc#1154", "diverged", adds(30_000_000)),
  of("claims +30 million, one of two sources", "erpc/erpc#976", "diverged", adds(30_000_000), {
    targets: 2,
  }),
  of("claims block 0", "erpc/erpc#1084", "diverged", claims(0)),
  of("claims block -1", "rule", "diverged", claims(-1)),
  of("claims 2^53 + 2", "rule", "diverged", claims(2 ** 53 + 2)),
  of("claims half a block", "rule", "diverged", adds(0.5)),
  of(
    "is deployed on another chain, of lower height",
    "connext/monorepo#3477",
    "diverged",
    { kind: "otherChain" },
    REPORTED,
  ),
  of(
    "follows a dead fork",
    "graphprotocol/graph-node#5586",
    "diverged",
    { kind: "fork" },
    { ...REPORTED, blockTimeMs: 12_000, knownAfterMs: MINUTE, lastsMs: 10 * MINUTE },
  ),
  of("flags indexing errors", "livepeer/explorer#733", "failed", { kind: "flag" }, REPORTED),
  of(
    "routed to an indexer that is 30 min behind",
    "graphprotocol/indexer-rs#916",
    "lagging",
    lags(HOUR / 2),
    BEHIND,
  ),
  of("all indexers of the gateway are 40 min behind", "rule", "lagging", lags(40 * MINUTE), {
    ...BOTH,
    ...BEHIND,
  }),
  of("the only source freezes", "enviodev/hyperindex#761", "stalled", FROZEN, { targets: 1, ...STALLED }),
  of("the only source is 2 h behind", "yearn/monitoring#325", "lagging", lags(2 * HOUR), {
    targets: 1,
    ...REPORTED,
    ...BEHIND,
  }),
  of("is not polled any more", "sablier-labs/indexers#337", "unknown", says("nothing"), {
    knownAfterMs: 5 * MINUTE,
    lastsMs: 20 * MINUTE,
  }),
];

function of(name: string, incident: string, expected: Status, fault: Fault, rest: Rest = {}): FaultScript {
  return { name, incident, expected, fault, ...rest };
}

function fails(reason: FailureReason, expected: Status, incident: string, rest: Rest = {}): FaultScript {
  return of(`fails with ${reason}`, incident, expected, { kind: "fails", reason }, rest);
}

function says(what: "missing" | "not_started" | "nothing"): Fault {
  return { kind: "says", what };
}

function claims(block: number): Fault {
  return { kind: "height", block: () => block };
}

function adds(blocks: number): Fault {
  return { kind: "height", block: (truth) => truth + blocks };
}

function lags(lagMs: number): Fault {
  return behaviour(() => ({ lagMs }));
}

function fromGenesis(startMs: number): Partial<IndexerBehaviour> {
  return { catchUp: { atMs: startMs, fromBlock: 1, blocksPerSec: 500 } };
}

function behaviour(change: Behaviour): Fault {
  return { kind: "behaviour", behaviour: change };
}
