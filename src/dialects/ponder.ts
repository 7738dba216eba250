import { z } from "zod";
import { readPositiveInteger, readTimestampSec } from "./answer/read-scalars.ts";
import type { Dialect, Reading, Row, RowContent } from "./dialect.ts";
import { readHead, readRows, unreadable } from "./read-rows.ts";

const StatusData = z.object({
  _meta: z.object({ status: z.looseObject({}) }),
});
const ChainStatus = z.object({ id: z.unknown().optional(), block: z.unknown().optional() });
const Block = z.object({ number: z.unknown().optional(), timestamp: z.unknown().optional() });

/**
 * Ponder: `status` is one JSON scalar with an entry per chain, keyed by the chain's name, with the id inside; in
 * 0.9.x the id was the key (ponder-sh/ponder#1516).
 */
export const ponder: Dialect = {
  questions: [{ body: { query: "{ _meta { status } }" }, read: readStatus }],
};

function readStatus(data: unknown): Reading {
  return readRows(StatusData, data, ({ _meta }) => {
    const rows = Object.entries(_meta.status).map(([key, value]) => readChainStatus(key, value));
    // The entries of all chains are written together, once the setup is complete.
    return rows.length > 0 ? rows : [{ chainId: null, content: { kind: "not_started" } }];
  });
}

function readChainStatus(key: string, value: unknown): Row {
  const status = ChainStatus.safeParse(value).data;
  return {
    chainId: readPositiveInteger(status?.id ?? key),
    content: status === undefined ? unreadable("a chain of _meta.status", value) : readBlock(status.block),
  };
}

/** Null while it back-fills. */
function readBlock(value: unknown): RowContent {
  if (value === null) {
    return { kind: "not_started" };
  }
  const block = Block.safeParse(value).data;
  if (block === undefined) {
    return unreadable("block", value);
  }
  return readHead("block.number", block.number, { timestampSec: readTimestampSec(block.timestamp) });
}
