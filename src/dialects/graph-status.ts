import { z } from "zod";
import type { Target } from "../core/model/fleet.ts";
import { formatNumber } from "../core/model/text.ts";
import { NOT_STARTED, type Question, type RowContent, type RowsOrReason } from "./dialect.ts";
import { readHead, unreadable } from "./form.ts";
import { describeParts, quote, readHash, readPositiveInteger } from "./values.ts";

type AskedTarget = Pick<Target, "chainId" | "deployment">;

const IndexingStatus = z.object({
  subgraph: z.string(),
  health: z.string(),
  fatalError: z
    .object({
      message: z.string(),
      handler: z.string().nullish(),
      deterministic: z.boolean().nullish(),
      block: z.object({ number: z.unknown() }).nullish(),
    })
    .nullish(),
  chains: z.array(z.object({ latestBlock: z.object({ number: z.unknown(), hash: z.unknown() }).nullable() })),
});
type IndexingStatus = z.output<typeof IndexingStatus>;
/** A row that cannot be read becomes its description, so that it does not invalidate the other rows. */
const StatusData = z.object({
  indexingStatuses: z.array(IndexingStatus.or(z.unknown().transform(describeParts))),
});
type FatalError = NonNullable<IndexingStatus["fatalError"]>;

/**
 * A question for graph-node's index-node API: one request for all deployments of a node. No other API of graph-node says why a
 * deployment has failed. The reply has no chain id, so the deployment identifies the chain. Numbers are strings, and hashes lack
 * their 0x. The health "healthy" proves nothing, because a stuck deployment has it too.
 */
export function graphStatusQuestion(targets: readonly AskedTarget[]): Question {
  const ids = targets.flatMap(({ deployment }) => (deployment === undefined ? [] : [deployment]));
  const query = `{ indexingStatuses(subgraphs: ${JSON.stringify(ids)}) { subgraph health fatalError { message handler deterministic block { number } } chains { latestBlock { number hash } } } }`;
  return { body: { query }, reads: "data", read: ({ value }) => readStatuses(targets, value) };
}

function readStatuses(targets: readonly AskedTarget[], data: unknown): RowsOrReason {
  const statuses = StatusData.safeParse(data).data?.indexingStatuses;
  return statuses === undefined
    ? "Cannot read data.indexingStatuses: expected a list"
    : targets.map(({ chainId, deployment }) => ({ chainId, content: contentOf(deployment, statuses) }));
}

function contentOf(deployment: string | undefined, rows: readonly (IndexingStatus | string)[]): RowContent {
  const status = rows.filter((row) => typeof row !== "string").find((row) => row.subgraph === deployment);
  if (status === undefined) {
    // An unreadable row may belong to the deployment.
    const row = rows.find((one) => typeof one === "string");
    return row === undefined
      ? {
          kind: "failed",
          reason: "not_found",
          detail: `This graph-node does not index ${String(deployment)}`,
        }
      : unreadable(`Cannot read a row of data.indexingStatuses: ${row}`);
  }
  const { subgraph, health, fatalError, chains } = status;
  const latest = chains[0]?.latestBlock ?? null;
  const failure = fatalError == null ? null : describeFailure(fatalError);
  if (latest === null) {
    return failure === null
      ? NOT_STARTED.content
      : { kind: "failed", reason: "indexing_error", detail: failure };
  }
  return readHead(
    { value: latest.number, name: "latestBlock.number" },
    {
      timestampSec: null,
      hash: typeof latest.hash === "string" ? readHash(`0x${latest.hash}`) : null,
      deployment: subgraph,
      indexingErrors: health !== "healthy",
      ...(failure === null ? {} : { failure }),
    },
  );
}

const OUTLOOKS: ReadonlyMap<unknown, string> = new Map([
  [true, " (deterministic: needs a new version)"],
  [false, " (not deterministic: graph-node tries again)"],
]);

/** `failed at block 403 in handleBlock: author is 0xdead (deterministic: needs a new version)`. */
function describeFailure({ message, handler, deterministic, block }: FatalError): string {
  const number =
    readPositiveInteger(block?.number) ?? readPositiveInteger(/at block #(\d+)/.exec(message)?.[1]);
  const name = handler ?? /in handler `([^`]{1,100})`/.exec(message)?.[1];
  const where = number === null ? "" : ` at block ${formatNumber(number)}`;
  const inHandler = name === undefined ? "" : ` in ${quote(name)}`;
  // In graph-node's message, the words of the mapping follow a backtrace, and the name of the handler follows them.
  const cause = /with message: (.*?)(?: in handler `|$)/s.exec(message)?.[1] ?? message;
  return `failed${where}${inHandler}: ${quote(cause)}${OUTLOOKS.get(deterministic) ?? ""}`;
}
