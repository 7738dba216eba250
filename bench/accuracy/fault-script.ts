import type { FailureReason } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import type { IndexerBehaviour } from "../../src/sim/model/indexer-model.ts";

/** What goes wrong with a target from one instant to another, and what should be said of it. */
export interface FaultScript {
  readonly name: string;
  /** The public incident that it is taken from, or `rule` where it tests one of our own. */
  readonly incident: string;
  /** Whom it strikes; the others stay healthy. `chain` changes the chain itself, `rpc` the RPC node. */
  readonly strikes: "one" | "both variants" | "all" | "chain" | "rpc";
  /** What is different from `startMs` on, until it is healed. */
  readonly fault: Fault;
  readonly expected: Status;
  /** How long after the start it can be known at the earliest, beside the polls themselves. */
  readonly knownAfterMs?: number;
  /** How long after the healing the target itself needs to be well again. */
  readonly wellAfterMs?: number;
  readonly lastsMs?: number;
  /** Sources beside the four targets. */
  readonly rpc?: "present" | "absent";
  readonly timestamps?: "reported" | "none";
  readonly blockTimeMs?: number;
  /** Only so many of the four targets exist. */
  readonly targets?: 1 | 2 | 4;
  /** It is there from the very first poll. */
  readonly fromTheStart?: true;
}

type Fault =
  | { readonly kind: "fails"; readonly reason: FailureReason }
  | { readonly kind: "says"; readonly what: "missing" | "not_started" | "nothing" }
  | {
      readonly kind: "behaviour";
      readonly behaviour: (startMs: number, headAtStart: number) => Partial<IndexerBehaviour>;
    }
  | { readonly kind: "height"; readonly block: (truth: number) => number }
  | { readonly kind: "flag" }
  | { readonly kind: "fork" }
  | { readonly kind: "otherChain" }
  | { readonly kind: "pause" };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The last advance is seen at the first poll of the fault: from there a standstill counts. */
const STALLED = 10 * MINUTE + 15_000;

function fails(reason: FailureReason, expected: Status, incident: string): FaultScript {
  const name = `fails with ${reason}`;
  // A lone timeout is everyday: that there is a fault can be known from the second one on.
  const knownAfterMs = reason === "timeout" ? 15_000 : 0;
  return { name, incident, strikes: "one", fault: { kind: "fails", reason }, expected, knownAfterMs };
}

function behaviour(change: (startMs: number, headAtStart: number) => Partial<IndexerBehaviour>): Fault {
  return { kind: "behaviour", behaviour: change };
}

const FROZEN = behaviour((startMs) => ({ freezeAtMs: startMs }));

/** The scripted faults. */
export const FAULT_SCRIPTS: readonly FaultScript[] = [
  fails("timeout", "unreachable", "rainlanguage/rain.solver#127"),
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
  fails("schema", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("malformed", "unreachable", "DefiLlama/DefiLlama-Adapters#16844"),
  fails("too_large", "unreachable", "rainlanguage/rain.solver#127"),
  fails("implausible", "diverged", "rule"),
  {
    name: "the answer lacks the chain",
    incident: "yearn/monitoring#325",
    strikes: "one",
    fault: { kind: "says", what: "missing" },
    expected: "missing",
  },
  {
    name: "both variants lack the chain",
    incident: "sablier-labs/indexers#337",
    strikes: "both variants",
    fault: { kind: "says", what: "missing" },
    expected: "missing",
  },
  {
    name: "not started",
    incident: "rule",
    strikes: "one",
    fault: { kind: "says", what: "not_started" },
    expected: "syncing",
  },
  {
    name: "parks at its last block, as Envio does",
    incident: "yearn/monitoring#325, enviodev/hyperindex#1644",
    strikes: "one",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "halts with hasIndexingErrors still false",
    incident: "livepeer/explorer#733",
    strikes: "one",
    fault: FROZEN,
    timestamps: "reported",
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "both variants of a protocol freeze",
    incident: "midnightntwrk/midnight-indexer#1457",
    strikes: "both variants",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "every indexer freezes, no RPC",
    incident: "midnightntwrk/midnight-indexer#1457",
    strikes: "all",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "every indexer freezes, an RPC goes on",
    incident: "snapshot-labs/sx-monorepo#2163, ponder-sh/ponder#2264",
    strikes: "all",
    fault: FROZEN,
    rpc: "present",
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "the chain halts, an RPC shows it",
    incident: "rule",
    strikes: "chain",
    fault: { kind: "pause" },
    rpc: "present",
    expected: "chain_halted",
    knownAfterMs: STALLED,
    wellAfterMs: 15_000,
    lastsMs: 20 * MINUTE,
  },
  {
    name: "the chain halts, no RPC",
    incident: "rule",
    strikes: "chain",
    fault: { kind: "pause" },
    expected: "stalled",
    knownAfterMs: STALLED,
    wellAfterMs: 15_000,
    lastsMs: 20 * MINUTE,
  },
  {
    name: "the chain pauses for 5 min",
    incident: "graphprotocol/graph-node#5586",
    strikes: "chain",
    fault: { kind: "pause" },
    expected: "ok",
    lastsMs: 5 * MINUTE,
  },
  {
    name: "the RPC node freezes",
    incident: "greenpill-dev-guild/green-goods#480",
    strikes: "rpc",
    fault: FROZEN,
    rpc: "present",
    expected: "ok",
    lastsMs: 20 * MINUTE,
  },
  {
    name: "the RPC node claims +30 million",
    incident: "erpc/erpc#1154",
    strikes: "rpc",
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    rpc: "present",
    expected: "ok",
  },
  {
    name: "stuck after a false reorg",
    incident: "graphprotocol/graph-node#5586",
    strikes: "one",
    fault: behaviour((startMs) => ({ freezeAtMs: startMs, lagBlocks: 20 })),
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "falls 18 h behind at once",
    incident: "greenpill-dev-guild/green-goods#480",
    strikes: "one",
    fault: behaviour(() => ({ lagMs: 18 * HOUR })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "18 h behind when first seen",
    incident: "greenpill-dev-guild/green-goods#480",
    strikes: "one",
    fault: behaviour(() => ({ lagMs: 18 * HOUR })),
    fromTheStart: true,
    expected: "lagging",
  },
  {
    name: "indexes at half the chain's pace",
    incident: "ponder-sh/ponder#2264",
    strikes: "one",
    fault: behaviour((startMs, head) => ({
      catchUp: { atMs: startMs, fromBlock: head, blocksPerSec: 0.25 },
    })),
    expected: "lagging",
    knownAfterMs: 20 * MINUTE,
    lastsMs: 40 * MINUTE,
  },
  {
    name: "re-indexes from genesis",
    incident: "OlympusDAO/olympus-protocol-metrics-subgraph#355",
    strikes: "one",
    fault: behaviour((startMs) => ({ catchUp: { atMs: startMs, fromBlock: 1, blocksPerSec: 500 } })),
    expected: "syncing",
    knownAfterMs: 30_000,
  },
  {
    name: "back-fills when first seen",
    incident: "messari/subgraphs#2642",
    strikes: "one",
    fault: behaviour((startMs) => ({ catchUp: { atMs: startMs, fromBlock: 1, blocksPerSec: 500 } })),
    fromTheStart: true,
    expected: "syncing",
    knownAfterMs: 15_000,
  },
  {
    name: "stuck 3.4 million blocks behind when first seen",
    incident: "messari/subgraphs#2642",
    strikes: "one",
    fault: behaviour((startMs) => ({ freezeAtMs: startMs, lagBlocks: 3_400_000 })),
    fromTheStart: true,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "claims +30 million",
    incident: "erpc/erpc#1154",
    strikes: "one",
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    expected: "diverged",
  },
  {
    name: "claims +30 million, one of two sources",
    incident: "erpc/erpc#976",
    strikes: "one",
    targets: 2,
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    expected: "diverged",
  },
  {
    name: "claims block 0",
    incident: "erpc/erpc#1084",
    strikes: "one",
    fault: { kind: "height", block: () => 0 },
    expected: "diverged",
  },
  {
    name: "claims block -1",
    incident: "rule",
    strikes: "one",
    fault: { kind: "height", block: () => -1 },
    expected: "diverged",
  },
  {
    name: "claims 2^53 + 2",
    incident: "rule",
    strikes: "one",
    fault: { kind: "height", block: () => 2 ** 53 + 2 },
    expected: "diverged",
  },
  {
    name: "claims half a block",
    incident: "rule",
    strikes: "one",
    fault: { kind: "height", block: (truth) => truth + 0.5 },
    expected: "diverged",
  },
  {
    name: "is deployed on another chain, of lower height",
    incident: "connext/monorepo#3477",
    strikes: "one",
    fault: { kind: "otherChain" },
    timestamps: "reported",
    expected: "diverged",
  },
  {
    name: "follows a dead fork",
    incident: "graphprotocol/graph-node#5586",
    strikes: "one",
    fault: { kind: "fork" },
    timestamps: "reported",
    blockTimeMs: 12_000,
    expected: "diverged",
    knownAfterMs: 60_000,
    lastsMs: 10 * MINUTE,
  },
  {
    name: "flags indexing errors",
    incident: "livepeer/explorer#733",
    strikes: "one",
    fault: { kind: "flag" },
    timestamps: "reported",
    expected: "failed",
  },
  {
    name: "routed to an indexer that is 30 min behind",
    incident: "graphprotocol/indexer-rs#916",
    strikes: "one",
    fault: behaviour(() => ({ lagMs: 30 * MINUTE })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "all indexers of the gateway are 40 min behind",
    incident: "rule",
    strikes: "both variants",
    fault: behaviour(() => ({ lagMs: 40 * MINUTE })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "the only source freezes",
    incident: "enviodev/hyperindex#761",
    strikes: "one",
    targets: 1,
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "the only source is 2 h behind by its timestamps",
    incident: "yearn/monitoring#325",
    strikes: "one",
    targets: 1,
    timestamps: "reported",
    fault: behaviour(() => ({ lagMs: 2 * HOUR })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "is not polled any more",
    incident: "sablier-labs/indexers#337",
    strikes: "one",
    fault: { kind: "says", what: "nothing" },
    expected: "unknown",
    knownAfterMs: 5 * MINUTE,
    lastsMs: 20 * MINUTE,
  },
];
