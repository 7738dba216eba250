import { z } from "zod";
import type { Target } from "../core/model/fleet.ts";
import { formatNumber } from "../core/model/text.ts";
import { NOT_STARTED, type Question, type RowContent, type RowsOrReason } from "./dialect.ts";
import { readHead } from "./form.ts";
import { quote, readHash, readPositiveInteger } from "./values.ts";

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
/** A bad row must not invalidate the others. */
const StatusData = z.object({ indexingStatuses: z.array(IndexingStatus.nullable().catch(null)) });
type FatalError = NonNullable<IndexingStatus["fatalError"]>;

/**
 * A question for graph-node's index-node API: one request for all deployments of a node. No other API of graph-node says why a
 * deployment has failed. The reply has no chain id, so the deployment identifies the chain. Numbers are strings, and hashes lack
 * their 0x. `health` counts only if it is bad, because it stays "healthy" while a deployment is stuck.
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

function contentOf(deployment: string | undefined, statuses: readonly (IndexingStatus | null)[]): RowContent {
  const status = statuses.find((one) => one?.subgraph === deployment) ?? null;
  if (status === null) {
    const detail = `This graph-node does not index ${String(deployment)}`;
    return { kind: "failed", reason: "not_found", detail };
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
  // The message of the mapping is between a backtrace and the name of the handler.
  const cause = /with message: (.*?)(?: in handler `|$)/s.exec(message)?.[1] ?? message;
  return `failed${where}${inHandler}: ${quote(cause)}${OUTLOOKS.get(deterministic) ?? ""}`;
}
