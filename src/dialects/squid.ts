import { z } from "zod";
import { readHash } from "./answer/read-scalars.ts";
import type { Dialect, Question, Reading, RowContent } from "./dialect.ts";
import { readHead, readRows } from "./read-rows.ts";

const StatusData = z.object({
  squidStatus: z.object({ height: z.unknown(), hash: z.unknown().optional() }).nullable(),
});

/**
 * A squid of SQD (Subsquid) behind `@subsquid/graphql-server`: one chain, without its id and without a block time.
 * `height` includes blocks that are not final yet. The first servers had no `hash`.
 */
export const squid: Dialect = {
  questions: [ask("{ squidStatus { height hash } }"), ask("{ squidStatus { height } }")],
};

function ask(query: string): Question {
  return { body: { query }, read: readStatus };
}

function readStatus(data: unknown): Reading {
  return readRows(StatusData, data, ({ squidStatus }) => [
    {
      chainId: null,
      content:
        squidStatus === null ? { kind: "not_started" } : readHeight(squidStatus.height, squidStatus.hash),
    },
  ]);
}

/** The processor's store begins with the row (-1, "0x"). */
function readHeight(height: unknown, hash: unknown): RowContent {
  return height === null || height === -1
    ? { kind: "not_started" }
    : readHead("squidStatus.height", height, { hash: readHash(hash) });
}
