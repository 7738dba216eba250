import { z } from "zod";
import { readPositiveInteger, readTimestampSec } from "./answer/read-scalars.ts";
import type { Dialect, Reading } from "./dialect.ts";
import { readHead, readRows } from "./read-rows.ts";

const Block = z.object({
  number: z.unknown(),
  hash: z.string().nullish().catch(null),
  timestamp: z.unknown().optional(),
});

/** An Ethereum JSON-RPC node: the chain's own head. `chains.yaml` names it under `rpc`, not under `dialect`. */
export const rpc: Dialect = {
  questions: [
    {
      body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
      read: readBlock,
    },
  ],
};

/** The request for a node's chain id. */
export const CHAIN_ID_REQUEST = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] } as const;

/** The chain id in a node's `result`, or null for anything else. */
export function readChainId(result: unknown): number | null {
  return readPositiveInteger(fromHex(result));
}

function readBlock(result: unknown): Reading {
  return readRows(Block, result, ({ number, hash, timestamp }) => [
    {
      chainId: null,
      content: readHead("result.number", fromHex(number), {
        timestampSec: readTimestampSec(fromHex(timestamp)),
        hash: hash ?? null,
      }),
    },
  ]);
}

/** A JSON-RPC quantity as a number; anything else unchanged, so that the error can name it. */
function fromHex(value: unknown): unknown {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? Number(value) : value;
}
