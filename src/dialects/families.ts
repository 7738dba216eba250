import type { Endpoint, Form, MetricsForm } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import type { Question } from "./dialect.ts";
import { questionsOf } from "./form.ts";
import { graphStatusQuestion } from "./graph-status.ts";
import { metricsQuestion } from "./metrics.ts";
import { METRICS_FAMILIES, REST_FAMILIES } from "./named-families.ts";
import { describeValue, readPositiveInteger } from "./values.ts";

/**
 * The families of indexers that `auto` can detect: how each is asked, richest question first, and where its reply has what.
 * A refused question leads to the next.
 */
export const FAMILIES = {
  // graph-node and everything that serves its `_meta`: The Graph's gateway and Studio, Goldsky, Ormi, Satsuma. Fields:
  // graph-node's graph/src/schema/meta.graphql; `timestamp` since v0.28, sometimes null. `_meta` must not be aliased: for a
  // failed subgraph graph-node keeps only the key `_meta`.
  graph: [
    {
      query: [
        "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }",
        "{ _meta { block { number } } }",
      ],
      height: "_meta.block.number",
      time: "_meta.block.timestamp?",
      hash: "_meta.block.hash?",
      deployment: "_meta.deployment?",
      failed: "_meta.hasIndexingErrors?",
    },
  ],
  // Envio HyperIndex: Hasura over its own tables. One unknown field refuses the whole query. `progressBlockTime` came after
  // 3.8.0 (enviodev/hyperindex#1644), `_meta` with 2.28.0; before that there is only `chain_metadata`. `sourceBlock` is not
  // queried: since v3 it freezes together with the progress. -1 is the initial value, and every column is nullable.
  envio: [
    {
      query: ["{ _meta { chainId progressBlock progressBlockTime } }", "{ _meta { chainId progressBlock } }"],
      rows: "_meta",
      chainId: "chainId?",
      height: "progressBlock",
      time: "progressBlockTime?",
      notStarted: [null, -1],
    },
    {
      query: "{ chain_metadata { chain_id latest_processed_block } }",
      rows: "chain_metadata",
      chainId: "chain_id?",
      height: "latest_processed_block",
      notStarted: [null, -1],
    },
  ],
  // Ponder: one JSON scalar with an entry per chain, keyed by the chain's name, with the id inside; in 0.9.x the id was the
  // key (ponder-sh/ponder#1516). `block` is null while it back-fills.
  ponder: [
    {
      query: "{ _meta { status } }",
      rows: "_meta.status.*",
      chainId: "id|$key?",
      height: "block.number",
      time: "block.timestamp?",
      notStarted: [null],
    },
  ],
  // A squid of SQD (Subsquid) behind `@subsquid/graphql-server`: one chain, without its id and without a block time.
  // `height` includes blocks that are not final yet. The first servers had no `hash`; the store begins with (-1, "0x").
  squid: [
    {
      query: ["{ squidStatus { height hash } }", "{ squidStatus { height } }"],
      height: "squidStatus.height",
      hash: "squidStatus.hash?",
      notStarted: [null, -1],
    },
  ],
  // SubQuery's query service. `chain` is the id of an EVM chain as text, and a name elsewhere. `_metadatas` came with
  // multi-chain projects. `lastProcessedTimestamp` is not queried: it is when the node processed the block, not the block's
  // own time. `targetHeight` and `indexerHealthy` freeze with the node and prove nothing.
  subquery: [
    {
      query: "{ _metadatas { nodes { lastProcessedHeight chain } } }",
      rows: "_metadatas.nodes",
      chainId: "chain?",
      height: "lastProcessedHeight",
      notStarted: [null],
    },
    {
      query: "{ _metadata { lastProcessedHeight chain } }",
      chainId: "_metadata.chain?",
      height: "_metadata.lastProcessedHeight",
      notStarted: [null],
    },
  ],
} as const satisfies Readonly<Record<string, readonly Form[]>>;

/** The dialect of an Ethereum JSON-RPC node, under `rpc` alone. */
export const RPC_DIALECT = "rpc";
/** The values of `dialect` of a node under `rpc`: what serves the head of a chain. */
export const HEAD_DIALECTS = [RPC_DIALECT, "erpc", "firehose", "sqd-portal", "metrics", "custom"] as const;

/** An Ethereum JSON-RPC node: the chain's own head. */
const RPC: Form = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
  height: "number",
  time: "timestamp?",
  hash: "hash?",
};

/** The chain id of an RPC node, as a row without a height. */
export const CHAIN_ID_QUESTION: Question = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] },
  reads: "data",
  read: ({ value }) => {
    const chainId = readPositiveInteger(value);
    return chainId === null
      ? `Cannot read result as a chain id: ${describeValue(value)}`
      : [{ chainId, content: { kind: "not_started" } }];
  },
};

/** An RPC node's block of this height, as a row without a chain; a node that does not have it has not started. */
export function blockQuestion(block: number): Question {
  const [latest] = questionsOf({ ...RPC, body: { ...RPC.body, params: [`0x${block.toString(16)}`, false] } });
  if (latest === undefined) {
    throw new TypeError("Cannot ask an RPC node: its form has no question");
  }
  return {
    ...latest,
    read: (found) =>
      found.value === null ? [{ chainId: null, content: { kind: "not_started" } }] : latest.read(found),
  };
}

type AskedEndpoint = Pick<Endpoint, "targets" | "custom" | "metrics"> &
  Partial<Pick<Endpoint, "chain" | "chainId">>;

/** The questions of a dialect, and the keys of chains.yaml that it needs in addition to the URL. */
export interface Dialect {
  /** The key of chains.yaml without which it cannot ask: of the indexer, or of each of its chains. */
  readonly needs?: "custom" | "deployment";
  /** Reads a metrics page: what it knows of that page, to which `metrics` in chains.yaml adds. */
  readonly metrics?: Partial<MetricsForm>;
  /** Whether `status` (an index-node API) is allowed. */
  readonly takesStatus?: boolean;
  /** Why its requests cannot carry the selections of `parity`; absent where they can. */
  readonly carriesNothing?: string;
  /** Its questions to an endpoint, likeliest first. A refused question leads to the next. */
  questions(endpoint: AskedEndpoint): readonly Question[];
}

/** The questions of the families, richest first. */
export const FAMILY_QUESTIONS: ReadonlyMap<string, readonly Question[]> = new Map<
  string,
  readonly Question[]
>(Object.entries<readonly Form[]>(FAMILIES).map(([name, forms]) => [name, forms.flatMap(questionsOf)]));

/** The values of `dialect` in chains.yaml. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  auto: { questions: ({ targets }) => likeliestFirst(targets.length) },
  ...Object.fromEntries(
    Array.from(FAMILY_QUESTIONS, ([name, questions]) => [
      name,
      { takesStatus: name === "graph", questions: () => questions },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<Form>(REST_FAMILIES).map(([name, form]) => [
      name,
      {
        carriesNothing: `dialect ${name} sends a GET, which has no query`,
        questions: () => questionsOf(form),
      },
    ]),
  ),
  "graph-status": {
    needs: "deployment",
    carriesNothing: "dialect graph-status asks the index-node API, which has no data",
    questions: ({ targets }) => [graphStatusQuestion(targets)],
  },
  ...Object.fromEntries(
    Object.entries<Partial<MetricsForm>>({ ...METRICS_FAMILIES, metrics: {} }).map(([name, metrics]) => [
      name,
      metricsDialect(name, metrics),
    ]),
  ),
  custom: {
    needs: "custom",
    questions: ({ custom }) => (custom === undefined ? [] : questionsOf(custom)),
  },
};

export const RPC_QUESTIONS: readonly Question[] = questionsOf(RPC);

/**
 * What an endpoint may be asked, likeliest first. All that has to be remembered of an endpoint is the index of the
 * question that fitted last.
 *
 * @throws {RangeError} If the endpoint's dialect is not in the registry; the configuration accepts no such name.
 */
export const questionsFor = memoize(
  (endpoint: AskedEndpoint & Pick<Endpoint, "dialect">): readonly Question[] => {
    if (endpoint.dialect === RPC_DIALECT) {
      return RPC_QUESTIONS;
    }
    const dialect = DIALECTS[endpoint.dialect];
    if (dialect === undefined) {
      throw new RangeError(`Cannot use dialect "${endpoint.dialect}": it is not in the registry`);
    }
    return dialect.questions(endpoint);
  },
);

/** The configuration makes sure that either the family or chains.yaml names the height. */
function metricsDialect(name: string, known: Partial<MetricsForm>): Dialect {
  return {
    metrics: known,
    carriesNothing: `dialect ${name} reads a metrics page, which has no data`,
    ...(known.chain === "deployment" ? { needs: "deployment" } : {}),
    questions(endpoint) {
      const { height, ...others } = { ...known, ...endpoint.metrics };
      const where = { ...known.where, ...endpoint.metrics?.where };
      return height === undefined ? [] : [metricsQuestion({ ...others, height, where }, endpoint)];
    },
  };
}

/** A subgraph has one chain: the first guess for an endpoint of one chain, the last for one of several. */
function likeliestFirst(chainCount: number): readonly Question[] {
  const { graph = [], ...others } = Object.fromEntries(FAMILY_QUESTIONS);
  const rest = Object.values(others).flat();
  return chainCount > 1 ? [...rest, ...graph] : [...graph, ...rest];
}
