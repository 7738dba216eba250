import type { Endpoint } from "../../src/core/model/fleet.ts";
import type { FailureReason, Head } from "../../src/core/model/observation.ts";

/** What a source replies: a height, `missing` or `not_started`, or how its poll fails; null: it is not polled. */
export type Reply =
  | number
  | (Partial<Head> & { readonly block: number })
  | FailureReason
  | { readonly failed: FailureReason; readonly detail: string }
  | "missing"
  | "not_started"
  | null;

/** The chain of a source at the instant of a poll. */
export interface Moment {
  /** The newest block of the chain. */
  readonly head: number;
  /** Unix seconds at which the chain made a block, of the past or of the future. */
  readonly time: (block: number) => number;
}

export type Script = (moment: Moment) => Reply;

/** So many blocks behind the head, or with a negative number ahead of it. */
export function behind(blocks: number): Script {
  return ({ head }) => head - blocks;
}

/** So many blocks behind the head, with the time of its block, which is wrong by `offSec`. */
export function dated(blocks = 0, offSec = 0): Script {
  return ({ head, time }) => ({ block: head - blocks, timestampSec: time(head - blocks) + offSec });
}

/** One reply after the other, again and again. */
export function inTurn(...scripts: readonly Script[]): Script {
  let next = 0;
  return (moment) => {
    const script = scripts[next % scripts.length];
    next += 1;
    return script === undefined ? null : script(moment);
  };
}

/** How a poll ends on the wire. */
export type WireReply =
  | { readonly kind: "body"; readonly status: number; readonly body: unknown }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

/** A height, or a failure that has an HTTP status or comes from the network, as a subgraph or an RPC node sends it. */
export function onTheWire(reply: Reply, { kind, dialect }: Pick<Endpoint, "kind" | "dialect">): WireReply {
  const status = typeof reply === "string" ? STATUSES.get(reply) : undefined;
  if (status !== undefined) {
    return { kind: "body", status, body: { error: reply } };
  }
  if (typeof reply === "string" && NETWORK.has(reply)) {
    return { kind: "failed", reason: NETWORK.get(reply) ?? "connect", detail: "as scripted" };
  }
  if (typeof reply === "string" || reply === null || (typeof reply === "object" && "failed" in reply)) {
    throw new RangeError(`Cannot send ${JSON.stringify(reply)} as a reply`);
  }
  const head = typeof reply === "number" ? { block: reply } : reply;
  if (kind === "rpc") {
    const result = { number: hex(head.block), hash: head.hash ?? null, timestamp: hex(head.timestampSec) };
    return { kind: "body", status: 200, body: { jsonrpc: "2.0", id: 1, result } };
  }
  if (dialect !== "graph") {
    throw new RangeError(`Cannot script an endpoint of dialect ${dialect}: only graph and RPC nodes`);
  }
  const block = { number: head.block, hash: head.hash ?? null, timestamp: head.timestampSec ?? null };
  const { deployment = "Qm1", indexingErrors: hasIndexingErrors = false } = head;
  return { kind: "body", status: 200, body: { data: { _meta: { block, deployment, hasIndexingErrors } } } };
}

const STATUSES: ReadonlyMap<string, number> = new Map([
  ["unauthorized", 401],
  ["payment_required", 402],
  ["not_found", 404],
  ["rate_limited", 429],
  ["http_status", 500],
]);

const NETWORK: ReadonlyMap<string, FailureReason> = new Map(
  (["timeout", "dns", "connect", "tls"] as const).map((reason) => [reason, reason]),
);

function hex(value: number | null | undefined): string | null {
  return value == null ? null : `0x${value.toString(16)}`;
}
