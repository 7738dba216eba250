import { z } from "zod";
import { readHash, readTimestampSec } from "./answer/read-scalars.ts";
import type { Dialect, Question, Reading } from "./dialect.ts";
import { readHead, readRows } from "./read-rows.ts";

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
 * graph-node and everything that serves its `_meta`: The Graph's gateway and Studio, Goldsky, Ormi, Satsuma.
 * Fields: graph-node's graph/src/schema/meta.graphql; `timestamp` since v0.28, sometimes null.
 * `_meta` must not be aliased: for a failed subgraph graph-node keeps only the key `_meta`.
 */
export const graph: Dialect = {
  questions: [
    ask("{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }"),
    ask("{ _meta { block { number } } }"),
  ],
};

/** Reads `_meta.block` and the fields beside it that are present; `_meta.block.number` alone is enough. */
export function readMetaBlock(data: unknown): Reading {
  return readRows(MetaData, data, ({ _meta: { block, hasIndexingErrors, deployment } }) => [
    {
      chainId: null,
      content: readHead("_meta.block.number", block.number, {
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

/** It becomes a metric label, so only an id is accepted. */
function readDeployment(value: unknown): string | null {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value) ? value : null;
}
