import { z } from "zod";
import type { Dialect, Reading } from "./dialect.ts";
import { sayHead } from "./head-row.ts";
import { readShape } from "./read-shape.ts";
import { readTimestampSec } from "./timestamp-sec.ts";

const Block = z.object({
  number: z.unknown(),
  hash: z.string().nullish().catch(null),
  timestamp: z.unknown().optional(),
});

/** An Ethereum JSON-RPC node: what the chain itself says of its head. Not a dialect of `chains.yaml`, but of its `rpc`. */
export const rpc: Dialect = {
  questions: [
    {
      body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
      read: readBlock,
    },
  ],
};

function readBlock(result: unknown): Reading {
  return readShape(Block, result, ({ number, hash, timestamp }) => [
    {
      chainId: null,
      said: sayHead("result.number", fromHex(number), {
        timestampSec: readTimestampSec(fromHex(timestamp)),
        hash: hash ?? null,
      }),
    },
  ]);
}

/** A quantity as JSON-RPC writes it; what is no quantity stays as it is, so that the complaint can name it. */
function fromHex(value: unknown): unknown {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? Number(value) : value;
}
