import { z } from "zod";
import type { Dialect, Question, Reading } from "./dialect.ts";
import { sayHead } from "./head-row.ts";
import { readShape } from "./read-shape.ts";
import { readTimestampSec } from "./timestamp-sec.ts";

const MetaData = z.object({
  _meta: z.object({
    block: z.object({
      number: z.unknown(),
      hash: z.unknown().optional(),
      timestamp: z.unknown().optional(),
    }),
    hasIndexingErrors: z.unknown().optional(),
    deployment: z.unknown().optional(),
  }),
});

/**
 * graph-node and whatever else speaks its `_meta`: The Graph's gateway and Studio, Goldsky, Ormi, Satsuma.
 * Fields: graph-node's graph/src/schema/meta.graphql; `timestamp` since v0.28, and null at times.
 * `_meta` has no alias, because on a failed subgraph graph-node keeps only the key of that very name.
 */
export const graph: Dialect = {
  questions: [
    ask("{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }"),
    ask("{ _meta { block { number } } }"),
  ],
};

/** Reads `_meta.block` and what stands around it, as far as it is there: at the least the plain shape of one number. */
export function readMetaBlock(data: unknown): Reading {
  return readShape(MetaData, data, ({ _meta: { block, hasIndexingErrors, deployment } }) => [
    {
      chainId: null,
      said: sayHead("_meta.block.number", block.number, {
        timestampSec: readTimestampSec(block.timestamp),
        hash: readHash(block.hash),
        deployment: readDeployment(deployment),
        indexingErrors: typeof hasIndexingErrors === "boolean" ? hasIndexingErrors : null,
      }),
    },
  ]);
}

function ask(query: string): Question {
  return { body: { query }, read: readMetaBlock };
}

function readHash(value: unknown): string | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,128}$/.test(value) ? value : null;
}

/** It becomes a metric label, so nothing but an id may pass. */
function readDeployment(value: unknown): string | null {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value) ? value : null;
}
