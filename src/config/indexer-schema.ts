import { z } from "zod";
import { DIALECTS, HEAD_DIALECTS, RPC_DIALECT } from "../dialects/families.ts";
import { Schedule } from "./quantities.ts";
import {
  BudgetName,
  Flag,
  Headers,
  isNotEmpty,
  Link,
  Name,
  oneOf,
  Provider,
  text,
  Url,
} from "./schema-values.ts";

/** The values of `dialect`. */
const DIALECT_NAMES = Object.keys(DIALECTS);
/** What a chain can override; the other keys of its map are values of placeholders. */
const OVERRIDES = {
  url: Url.exactOptional().describe(
    "Its own URL. The indexer's headers and budget do not apply to another origin.",
  ),
  explorer: Link.exactOptional().describe("Its own link."),
  playground: Link.exactOptional().describe("Its own link."),
  schedule: Schedule.exactOptional().describe("Its own schedule."),
  headers: Headers.exactOptional().describe("Replaces the indexer's headers."),
  budget: BudgetName.exactOptional().describe("Its own budget."),
  provider: Provider.exactOptional(),
};

/** The keys of a chain's map that are not values of placeholders. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const ChainValues = z
  .object(OVERRIDES)
  .catchall(
    z
      .union([z.string().regex(/^(?!.*\$\{)/), z.int(), z.boolean()])
      .transform(String)
      .meta({ expected: `a text without \${…}, or a whole number` })
      .describe("The value of the placeholder with this name."),
  )
  .nullable()
  .transform((values) => values ?? {})
  .meta({ expected: "a map of placeholder values and overrides" });

const Chains = z
  .union([
    z.array(text("the slug of a chain")).min(1),
    z.record(z.string(), ChainValues).refine(isNotEmpty).meta({ minProperties: 1 }),
  ])
  .meta({ expected: "a list of chain slugs, or a map of them" });

const FIELDS = String.raw`(?:\$|\$key|[\w-]+(?:\.[\w-]+)*)`;
const ReplyPath = replyPath(String.raw`^${FIELDS}(?:\|${FIELDS})*\??$`);
const Query = text("a GraphQL query");

const Custom = z
  .strictObject({
    method: oneOf(["POST", "GET"])
      .default("POST")
      .describe("GET sends no body, and reads the whole response."),
    query: z
      .union([Query, z.array(Query).min(1)])
      .meta({ expected: "a GraphQL query" })
      .exactOptional()
      .describe("A query, or a list: the next one is sent when one is refused."),
    body: z
      .record(z.string(), z.unknown())
      .meta({ expected: "a map that is sent as JSON" })
      .exactOptional()
      .describe("JSON to send in place of a query."),
    root: ReplyPath.exactOptional().describe(
      "Where the other paths start (default: data or result); $ is the whole response.",
    ),
    rows: replyPath(String.raw`^(?:${FIELDS}(?:\.\*)?|\*)$`)
      .exactOptional()
      .describe(
        "The list with a row per chain, or the map of rows, with .* at its end (default: the response is one row).",
      ),
    height: ReplyPath.describe("The last processed block."),
    time: ReplyPath.exactOptional().describe("Its time: seconds or ISO 8601."),
    chain_id: ReplyPath.exactOptional().describe("The chain ID of the row."),
    hash: ReplyPath.exactOptional().describe("Its hash."),
    deployment: ReplyPath.exactOptional().describe("The ID of the deployment that answers."),
    failed: ReplyPath.exactOptional().describe("True or not empty once indexing has failed."),
    not_started: z
      .array(z.union([z.string(), z.number(), z.null()]).meta({ expected: "a text, a number or null" }))
      .meta({ expected: "a list of values" })
      .exactOptional()
      .describe("Heights that mean that nothing is indexed yet; 0 always does."),
  })
  .meta({ expected: "a map with query and height" });

const Metric = z
  .string()
  .regex(/^[a-zA-Z_:][\w:]*$/)
  .meta({ expected: "the name of a metric" });
const LabelName = z
  .string()
  .regex(/^[a-zA-Z_]\w*$/)
  .meta({ expected: "the name of a label" });

const Metrics = z
  .strictObject({
    height: Metric.exactOptional().describe("Gauge of the last processed block."),
    time: Metric.exactOptional().describe("Gauge of its time, in Unix seconds."),
    chain: LabelName.exactOptional().describe(
      "Label with the chain: its ID (also as in evm:8453), its slug, or a key of chains (default: the page is of one chain).",
    ),
    where: z
      .record(z.string(), text("a string; put numbers in quotes"))
      .meta({ expected: "a map of labels and values" })
      .exactOptional()
      .describe("Labels that a series must have."),
    chains: z
      .record(z.string(), text("the slug of a chain"))
      .meta({ expected: "a map of label values and chain slugs" })
      .exactOptional()
      .describe("Chain slugs by other values of that label."),
  })
  .meta({ expected: "a map with height" });

const Status = z
  .strictObject({
    url: Url.describe("The index-node API, such as http://graph-node:8030/graphql."),
    deployment: text("the id of a deployment, or a placeholder such as {deployment}").describe(
      "The deployment.",
    ),
  })
  .meta({ expected: "a map with url and deployment" });

export const IndexerEntry = z
  .strictObject({
    variant: Name.describe("A way in which the protocol is indexed, such as subgraph."),
    tier: Name.default("production").describe("Which deployment, such as production or testing."),
    dialect: z
      .enum(DIALECT_NAMES)
      .meta({ expected: `one of ${DIALECT_NAMES.join(", ")}` })
      .default("auto")
      .describe("The family of the indexer ([list](dialects.md)); auto detects some."),
    custom: Custom.exactOptional().describe("What dialect [custom](dialects.md#custom) sends and reads."),
    metrics: Metrics.exactOptional().describe(
      "Which gauges dialect [metrics](dialects.md#metrics) reads; beside a family of metrics pages, what the family does not know.",
    ),
    url: Url.exactOptional().describe("One endpoint for all chains or, with a placeholder, one for each."),
    provider: Provider.exactOptional(),
    status: Status.exactOptional().describe(
      "The graph-node's index-node API, asked why a target of dialect graph is not ok.",
    ),
    headers: Headers.default({}).describe("Sent with every request."),
    optional: Flag.default(false).describe("Skip it, with a warning, while one of its variables is not set."),
    explorer: Link.exactOptional().describe("Page about the indexer."),
    playground: Link.exactOptional().describe("Page for queries by hand."),
    budget: BudgetName.exactOptional().describe("Budget of its requests."),
    schedule: Schedule.default("auto").describe("When it is polled; auto: as often as the budget allows."),
    chains: Chains.describe("Chains that it must serve; an absent one is missing."),
  })
  .meta({ expected: "a map with variant, url and chains" });

const RpcNode = z.strictObject({
  url: Url.describe("The node's URL."),
  dialect: z
    .enum(HEAD_DIALECTS)
    .meta({ expected: `one of ${HEAD_DIALECTS.join(", ")}` })
    .default(RPC_DIALECT)
    .describe("Where the head is read ([list](dialects.md#independent-heads))."),
  custom: Custom.exactOptional().describe("As in an indexer."),
  metrics: Metrics.exactOptional().describe("As in an indexer."),
  headers: Headers.default({}).describe("Sent with every request."),
  provider: Provider.exactOptional(),
  budget: BudgetName.exactOptional().describe("Budget of its requests."),
  schedule: Schedule.exactOptional().describe("When it is polled (default: `poll.rpc_schedule`)."),
});

/** A node of a chain. A plain URL has the defaults of all keys. */
export const RpcEntry = z
  .union([
    Url.transform((url): z.output<typeof RpcNode> => ({ url, headers: {}, dialect: RPC_DIALECT })),
    RpcNode,
  ])
  .meta({ expected: "a URL, or a map with url", secret: true });

export type ChainValues = z.output<typeof ChainValues>;
export type CustomEntry = z.output<typeof Custom>;
export type IndexerEntry = z.output<typeof IndexerEntry>;
export type RpcEntry = z.output<typeof RpcEntry>;

function replyPath(pattern: string) {
  return z.string().regex(new RegExp(pattern)).meta({ expected: "a path such as indexer.blocks.0.number" });
}
