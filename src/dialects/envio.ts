import { z } from "zod";
import type { Dialect, Reading, Row } from "./dialect.ts";
import { sayHead, sayUnreadable } from "./head-row.ts";
import { readPositiveInteger } from "./positive-integer.ts";
import { readShape } from "./read-shape.ts";
import { readTimestampSec } from "./timestamp-sec.ts";

// Rows are looked at one by one: a bad one must not spoil the others.
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
 * Envio HyperIndex, whose GraphQL is Hasura over its own tables: one row a chain, and one unknown field refuses it all.
 * `progressBlockTime` came after 3.8.0 (enviodev/hyperindex#1644), `_meta` with 2.28.0; before that there is only
 * `chain_metadata`. `sourceBlock` is not asked for: since v3 it freezes together with the progress.
 */
export const envio: Dialect = {
  questions: [
    { body: { query: "{ _meta { chainId progressBlock progressBlockTime } }" }, read: readMetaRows },
    { body: { query: "{ _meta { chainId progressBlock } }" }, read: readMetaRows },
    { body: { query: "{ chain_metadata { chain_id latest_processed_block } }" }, read: readChainMetadata },
  ],
};

function readMetaRows(data: unknown): Reading {
  return readShape(MetaData, data, ({ _meta }) => _meta.map(readMetaRow));
}

function readMetaRow(value: unknown): Row {
  const row = MetaRow.safeParse(value).data;
  if (row === undefined) {
    return { chainId: null, said: sayUnreadable("a row of _meta", value) };
  }
  return {
    chainId: readPositiveInteger(row.chainId),
    said: sayProgress("progressBlock", row.progressBlock, readTimestampSec(row.progressBlockTime)),
  };
}

function readChainMetadata(data: unknown): Reading {
  return readShape(OldData, data, ({ chain_metadata }) => chain_metadata.map(readOldRow));
}

function readOldRow(value: unknown): Row {
  const row = OldRow.safeParse(value).data;
  if (row === undefined) {
    return { chainId: null, said: sayUnreadable("a row of chain_metadata", value) };
  }
  return {
    chainId: readPositiveInteger(row.chain_id),
    said: sayProgress("latest_processed_block", row.latest_processed_block, null),
  };
}

/** -1 is Envio's initial value, and every column of the view is nullable. */
function sayProgress(field: string, found: unknown, timestampSec: number | null): Row["said"] {
  if (found === null || found === -1 || found === "-1") {
    return { kind: "not_started" };
  }
  return sayHead(field, found, { timestampSec });
}
