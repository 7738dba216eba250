import { z } from "zod";
import type { Dialect, Reading, Row } from "./dialect.ts";
import { sayHead, sayUnreadable } from "./head-row.ts";
import { readPositiveInteger } from "./positive-integer.ts";
import { readShape } from "./read-shape.ts";
import { readTimestampSec } from "./timestamp-sec.ts";

const StatusData = z.object({
  _meta: z.object({ status: z.looseObject({}) }),
});
const ChainStatus = z.object({ id: z.unknown().optional(), block: z.unknown().optional() });
const Block = z.object({ number: z.unknown().optional(), timestamp: z.unknown().optional() });

/**
 * Ponder: `status` is one JSON scalar with an entry a chain. The key is the chain's name and the id stands inside; in
 * 0.9.x the id was the key (ponder-sh/ponder#1516).
 */
export const ponder: Dialect = {
  questions: [{ body: { query: "{ _meta { status } }" }, read: readStatus }],
};

function readStatus(data: unknown): Reading {
  return readShape(StatusData, data, ({ _meta }) => {
    const rows = Object.entries(_meta.status).map(([key, value]) => readChainStatus(key, value));
    // The entries of all chains are written at once, when the setup is done.
    return rows.length > 0 ? rows : [{ chainId: null, said: { kind: "not_started" } }];
  });
}

function readChainStatus(key: string, value: unknown): Row {
  const status = ChainStatus.safeParse(value).data;
  return {
    chainId: readPositiveInteger(status?.id ?? key),
    said: status === undefined ? sayUnreadable("a chain of _meta.status", value) : sayBlock(status.block),
  };
}

/** Null while it back-fills; 0 is the first checkpoint of one that starts at genesis, where nothing is indexed yet. */
function sayBlock(value: unknown): Row["said"] {
  if (value === null) {
    return { kind: "not_started" };
  }
  const block = Block.safeParse(value).data;
  if (block === undefined) {
    return sayUnreadable("block", value);
  }
  if (block.number === 0) {
    return { kind: "not_started" };
  }
  return sayHead("block.number", block.number, { timestampSec: readTimestampSec(block.timestamp) });
}
