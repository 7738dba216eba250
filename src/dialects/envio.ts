import { z } from "zod";
import { readPositiveInteger, readTimestampSec } from "./answer/read-scalars.ts";
import type { Dialect, Reading, Row, RowContent } from "./dialect.ts";
import { readHead, readRows, unreadable } from "./read-rows.ts";

// Rows are parsed one by one: a bad one must not invalidate the others.
const MetaData = z.object({ _meta: z.array(z.unknown()) });
const MetaRow = z.object({
  chainId: z.unknown().optional(),
  progressBlock: z.unknown().optional(),
  progressBlockTime: z.unknown().optional(),
});
const OldData = z.object({ chain_metadata: z.array(z.unknown()) });
const OldRow = z.object({
  chain_id: z.unknown().optional(),
  latest_processed_block: z.unknown().optional(),
});

/**
 * Envio HyperIndex: Hasura over its own tables, one row per chain. One unknown field refuses the whole query.
 * `progressBlockTime` came after 3.8.0 (enviodev/hyperindex#1644), `_meta` with 2.28.0; before that there is only
 * `chain_metadata`. `sourceBlock` is not queried: since v3 it freezes together with the progress.
 */
export const envio: Dialect = {
  questions: [
    { body: { query: "{ _meta { chainId progressBlock progressBlockTime } }" }, read: readMetaRows },
    { body: { query: "{ _meta { chainId progressBlock } }" }, read: readMetaRows },
    { body: { query: "{ chain_metadata { chain_id latest_processed_block } }" }, read: readChainMetadata },
  ],
};

function readMetaRows(data: unknown): Reading {
  return readRows(MetaData, data, ({ _meta }) => _meta.map(readMetaRow));
}

function readMetaRow(value: unknown): Row {
  const row = MetaRow.safeParse(value).data;
  if (row === undefined) {
    return { chainId: null, content: unreadable("a row of _meta", value) };
  }
  return {
    chainId: readPositiveInteger(row.chainId),
    content: readProgress("progressBlock", row.progressBlock, readTimestampSec(row.progressBlockTime)),
  };
}

function readChainMetadata(data: unknown): Reading {
  return readRows(OldData, data, ({ chain_metadata }) => chain_metadata.map(readOldRow));
}

function readOldRow(value: unknown): Row {
  const row = OldRow.safeParse(value).data;
  if (row === undefined) {
    return { chainId: null, content: unreadable("a row of chain_metadata", value) };
  }
  return {
    chainId: readPositiveInteger(row.chain_id),
    content: readProgress("latest_processed_block", row.latest_processed_block, null),
  };
}

/** -1 is Envio's initial value, and every column of the view is nullable. */
function readProgress(field: string, found: unknown, timestampSec: number | null): RowContent {
  if (found === null || found === -1 || found === "-1") {
    return { kind: "not_started" };
  }
  return readHead(field, found, { timestampSec });
}
