import type { FailureReason } from "../../src/core/observation.ts";
import type { Status } from "../../src/core/report.ts";
import type { IndexerKnobs } from "../../src/sim/indexer-model.ts";

/** What goes wrong with a target from one instant to another, and what should be said of it. */
export interface FaultScript {
  readonly name: string;
  /** Number of the incident in the facts that it is taken from, or where the rule comes from. */
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

export type Fault =
  | { readonly kind: "fails"; readonly reason: FailureReason }
  | { readonly kind: "says"; readonly what: "missing" | "not_started" | "nothing" }
  | {
      readonly kind: "knobs";
      readonly knobs: (startMs: number, headAtStart: number) => Partial<IndexerKnobs>;
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

function knobs(change: (startMs: number, headAtStart: number) => Partial<IndexerKnobs>): Fault {
  return { kind: "knobs", knobs: change };
}

const FROZEN = knobs((startMs) => ({ freezeAtMs: startMs }));

/** The scripted faults. */
export const FAULT_SCRIPTS: readonly FaultScript[] = [
  fails("timeout", "unreachable", "19"),
  fails("dns", "unreachable", "8"),
  fails("connect", "unreachable", "8"),
  fails("tls", "unreachable", "8"),
  fails("http_status", "unreachable", "1"),
  fails("rate_limited", "throttled", "contract 4"),
  fails("budget", "throttled", "contract 4"),
  fails("unauthorized", "rejected", "6"),
  fails("payment_required", "rejected", "6"),
  fails("not_found", "not_found", "7"),
  fails("no_indexers", "unreachable", "6"),
  fails("indexing_error", "failed", "6"),
  fails("graphql", "unreachable", "19"),
  fails("schema", "unreachable", "8"),
  fails("malformed", "unreachable", "8"),
  fails("too_large", "unreachable", "19"),
  fails("implausible", "diverged", "issue 3"),
  {
    name: "the answer lacks the chain",
    incident: "1, 7",
    strikes: "one",
    fault: { kind: "says", what: "missing" },
    expected: "missing",
  },
  {
    name: "both variants lack the chain",
    incident: "7",
    strikes: "both variants",
    fault: { kind: "says", what: "missing" },
    expected: "missing",
  },
  {
    name: "not started",
    incident: "contract 4",
    strikes: "one",
    fault: { kind: "says", what: "not_started" },
    expected: "syncing",
  },
  {
    name: "parks at its last block, as Envio does",
    incident: "1, 2, 3",
    strikes: "one",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "halts with hasIndexingErrors still false",
    incident: "9",
    strikes: "one",
    fault: FROZEN,
    timestamps: "reported",
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "both variants of a protocol freeze",
    incident: "midnight-indexer 1457",
    strikes: "both variants",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "every indexer freezes, no RPC",
    incident: "14",
    strikes: "all",
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "every indexer freezes, an RPC goes on",
    incident: "12, 13",
    strikes: "all",
    fault: FROZEN,
    rpc: "present",
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "the chain halts, an RPC shows it",
    incident: "facts 11.4",
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
    incident: "facts 11.4",
    strikes: "chain",
    fault: { kind: "pause" },
    expected: "stalled",
    knownAfterMs: STALLED,
    wellAfterMs: 15_000,
    lastsMs: 20 * MINUTE,
  },
  {
    name: "the chain pauses for 5 min",
    incident: "16",
    strikes: "chain",
    fault: { kind: "pause" },
    expected: "ok",
    lastsMs: 5 * MINUTE,
  },
  {
    name: "the RPC node freezes",
    incident: "2",
    strikes: "rpc",
    fault: FROZEN,
    rpc: "present",
    expected: "ok",
    lastsMs: 20 * MINUTE,
  },
  {
    name: "the RPC node claims +30 million",
    incident: "erpc 1154",
    strikes: "rpc",
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    rpc: "present",
    expected: "ok",
  },
  {
    name: "stuck after a false reorg",
    incident: "16",
    strikes: "one",
    fault: knobs((startMs) => ({ freezeAtMs: startMs, lagBlocks: 20 })),
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "falls 18 h behind at once",
    incident: "2",
    strikes: "one",
    fault: knobs(() => ({ lagMs: 18 * HOUR })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "18 h behind when first seen",
    incident: "2",
    strikes: "one",
    fault: knobs(() => ({ lagMs: 18 * HOUR })),
    fromTheStart: true,
    expected: "lagging",
  },
  {
    name: "indexes at half the chain's pace",
    incident: "13",
    strikes: "one",
    fault: knobs((startMs, head) => ({ catchUp: { atMs: startMs, fromBlock: head, blocksPerSec: 0.25 } })),
    expected: "lagging",
    knownAfterMs: 20 * MINUTE,
    lastsMs: 40 * MINUTE,
  },
  {
    name: "re-indexes from genesis",
    incident: "4",
    strikes: "one",
    fault: knobs((startMs) => ({ catchUp: { atMs: startMs, fromBlock: 1, blocksPerSec: 500 } })),
    expected: "syncing",
    knownAfterMs: 30_000,
  },
  {
    name: "back-fills when first seen",
    incident: "17",
    strikes: "one",
    fault: knobs((startMs) => ({ catchUp: { atMs: startMs, fromBlock: 1, blocksPerSec: 500 } })),
    fromTheStart: true,
    expected: "syncing",
    knownAfterMs: 15_000,
  },
  {
    name: "stuck 3.4 million blocks behind when first seen",
    incident: "17",
    strikes: "one",
    fault: knobs((startMs) => ({ freezeAtMs: startMs, lagBlocks: 3_400_000 })),
    fromTheStart: true,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "claims +30 million",
    incident: "erpc 1154",
    strikes: "one",
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    expected: "diverged",
  },
  {
    name: "claims +30 million, one of two sources",
    incident: "erpc 976",
    strikes: "one",
    targets: 2,
    fault: { kind: "height", block: (truth) => truth + 30_000_000 },
    expected: "diverged",
  },
  {
    name: "claims block 0",
    incident: "erpc 1084",
    strikes: "one",
    fault: { kind: "height", block: () => 0 },
    expected: "diverged",
  },
  {
    name: "claims block -1",
    incident: "issue 3",
    strikes: "one",
    fault: { kind: "height", block: () => -1 },
    expected: "diverged",
  },
  {
    name: "claims 2^53 + 2",
    incident: "issue 3",
    strikes: "one",
    fault: { kind: "height", block: () => 2 ** 53 + 2 },
    expected: "diverged",
  },
  {
    name: "claims half a block",
    incident: "issue 3",
    strikes: "one",
    fault: { kind: "height", block: (truth) => truth + 0.5 },
    expected: "diverged",
  },
  {
    name: "is deployed on another chain, of lower height",
    incident: "15",
    strikes: "one",
    fault: { kind: "otherChain" },
    timestamps: "reported",
    expected: "diverged",
  },
  {
    name: "follows a dead fork",
    incident: "16",
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
    incident: "9, 19",
    strikes: "one",
    fault: { kind: "flag" },
    timestamps: "reported",
    expected: "failed",
  },
  {
    name: "routed to an indexer that is 30 min behind",
    incident: "10",
    strikes: "one",
    fault: knobs(() => ({ lagMs: 30 * MINUTE })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "all indexers of the gateway are 40 min behind",
    incident: "facts 0.4",
    strikes: "both variants",
    fault: knobs(() => ({ lagMs: 40 * MINUTE })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "the only source freezes",
    incident: "5",
    strikes: "one",
    targets: 1,
    fault: FROZEN,
    expected: "stalled",
    knownAfterMs: STALLED,
  },
  {
    name: "the only source is 2 h behind by its timestamps",
    incident: "1",
    strikes: "one",
    targets: 1,
    timestamps: "reported",
    fault: knobs(() => ({ lagMs: 2 * HOUR })),
    expected: "lagging",
    knownAfterMs: 30_000,
  },
  {
    name: "is not polled any more",
    incident: "7",
    strikes: "one",
    fault: { kind: "says", what: "nothing" },
    expected: "unknown",
    knownAfterMs: 5 * MINUTE,
    lastsMs: 20 * MINUTE,
  },
];
