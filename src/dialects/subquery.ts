import { z } from "zod";
import { readPositiveInteger } from "./answer/read-scalars.ts";
import type { Dialect, Reading, Row, RowContent } from "./dialect.ts";
import { readHead, readRows, unreadable } from "./read-rows.ts";

// Rows are parsed one by one: a bad one must not invalidate the others.
const ManyData = z.object({ _metadatas: z.object({ nodes: z.array(z.unknown()) }) });
const OneData = z.object({ _metadata: z.unknown() });
const Metadata = z.object({ lastProcessedHeight: z.unknown().optional(), chain: z.unknown().optional() });

/**
 * SubQuery's query service: one row of metadata per chain. `chain` is the id of an EVM chain as text, and a name
 * elsewhere. `_metadatas` came with multi-chain projects.
 *
 * `lastProcessedTimestamp` is not queried: it is when the node processed the block, not the block's own time.
 * `targetHeight` and `indexerHealthy` freeze with the node and prove nothing.
 */
export const subquery: Dialect = {
  questions: [
    { body: { query: "{ _metadatas { nodes { lastProcessedHeight chain } } }" }, read: readMany },
    { body: { query: "{ _metadata { lastProcessedHeight chain } }" }, read: readOne },
  ],
};

function readMany(data: unknown): Reading {
  return readRows(ManyData, data, ({ _metadatas }) => _metadatas.nodes.map(readMetadata));
}

function readOne(data: unknown): Reading {
  return readRows(OneData, data, ({ _metadata }) => [
    _metadata === null ? { chainId: null, content: { kind: "not_started" } } : readMetadata(_metadata),
  ]);
}

function readMetadata(value: unknown): Row {
  const metadata = Metadata.safeParse(value).data;
  return metadata === undefined
    ? { chainId: null, content: unreadable("a row of metadata", value) }
    : { chainId: readPositiveInteger(metadata.chain), content: readHeight(metadata.lastProcessedHeight) };
}

/** Null until the node has processed its first block. */
function readHeight(height: unknown): RowContent {
  return height === null ? { kind: "not_started" } : readHead("lastProcessedHeight", height, {});
}
