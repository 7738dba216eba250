import { hashOf, timeOf } from "../model/chain-model.ts";
import { type Answer, type Call, json, parseJson, type ServedRow } from "./answer.ts";

/** Blocks that a `safe` or `finalized` head is behind the newest. */
const FINALITY_BLOCKS = 64;

/** Answers as a chain's own node does: JSON-RPC 2.0, numbers as hexadecimal text. */
export function answerRpc(call: Call, row: ServedRow): Answer {
  if (call.method !== "POST") {
    return { status: 405, headers: { allow: "POST" }, body: "" };
  }
  const request = parseJson(call.body);
  if (request === undefined) {
    return json({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse error" } });
  }
  if (!isRequest(request)) {
    return json({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "invalid request" } });
  }
  return json({ jsonrpc: "2.0", id: request.id ?? null, ...outcome(request, row) });
}

interface RpcRequest {
  readonly method: string;
  readonly id?: unknown;
  readonly params?: unknown;
}

function isRequest(value: unknown): value is RpcRequest {
  return typeof value === "object" && value !== null && "method" in value && typeof value.method === "string";
}

function outcome(request: RpcRequest, row: ServedRow): Readonly<Record<string, unknown>> {
  const params: readonly unknown[] = Array.isArray(request.params) ? request.params : [];
  switch (request.method) {
    case "eth_chainId":
      return { result: quantity(row.chainId) };
    case "eth_blockNumber":
      return { result: quantity(row.block) };
    case "eth_getBlockByNumber":
      return { result: blockByTag(params[0], row) };
    default:
      return {
        error: { code: -32601, message: `the method ${request.method} does not exist/is not available` },
      };
  }
}

function blockByTag(tag: unknown, row: ServedRow): unknown {
  if (tag === "latest" || tag === "pending") {
    return row.block === null ? null : blockOf(row);
  }
  const latest = Number(row.block);
  const wanted = tag === "safe" || tag === "finalized" ? latest - FINALITY_BLOCKS : Number(tag);
  if (!Number.isSafeInteger(wanted) || wanted < 0 || wanted > latest) {
    return null;
  }
  return blockOf({
    ...row,
    block: wanted,
    hash: hashOf(row.chain.id, wanted, "main"),
    parentHash: hashOf(row.chain.id, wanted - 1, "main"),
    timestampSec: Math.floor(timeOf(row.chain, wanted) / 1_000),
  });
}

function blockOf(row: ServedRow): unknown {
  return {
    number: quantity(row.block),
    hash: row.hash,
    parentHash: row.parentHash,
    timestamp: quantity(row.timestampSec),
    gasLimit: "0x1c9c380",
    gasUsed: "0x0",
    miner: "0x0000000000000000000000000000000000000000",
    transactions: [],
    uncles: [],
  };
}

/** Hexadecimal text of a whole number; nonsense stays as it is, so that a test can say it. */
function quantity(value: unknown): unknown {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? `0x${value.toString(16)}`
    : value;
}
