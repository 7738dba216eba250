import { z } from "zod";
import { DIALECTS, HEAD_DIALECTS } from "../dialects/families.ts";
import { Schedule } from "./quantities.ts";
import {
  BudgetName,
  FILLED,
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
    "A URL of its own. The indexer's headers and budget do not apply to another origin.",
  ),
  explorer: Link.exactOptional().describe("A link of its own, or null for none."),
  playground: Link.exactOptional().describe("A link of its own, or null for none."),
  schedule: Schedule.exactOptional().describe("A schedule of its own."),
  headers: Headers.exactOptional().describe("Replaces the indexer's headers."),
  budget: BudgetName.exactOptional().describe("A budget of its own, or null for none."),
  provider: Provider.exactOptional(),
};

/** The keys of a chain's map that are not values of placeholders. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const ChainValues = z
  .object(OVERRIDES)
  .catchall(
    z
      .union([z.string(), z.number(), z.boolean(), z.null()])
      .meta({ expected: "a string or a number as a placeholder's value" })
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
      .describe("A GraphQL query, or a list of them: the next one is sent when one is refused."),
    body: z
      .record(z.string(), z.unknown())
      .meta({ expected: "a map that is sent as JSON" })
      .exactOptional()
      .describe("The JSON that is sent in place of a query."),
    root: ReplyPath.exactOptional().describe(
      "Where the other paths start; $ is the whole response. Default: data, or result.",
    ),
    rows: replyPath(String.raw`^(?:${FIELDS}(?:\.\*)?|\*)$`)
      .exactOptional()
      .describe(
        "The list with one row for each chain, or with .* at its end the map of them. Without it, the response is one row.",
      ),
    height: ReplyPath.describe("The last processed block, in `data` or in a row of `rows`."),
    time: ReplyPath.exactOptional().describe("The time of that block: seconds, or ISO 8601."),
    chain_id: ReplyPath.exactOptional().describe("The chain ID of the row."),
    hash: ReplyPath.exactOptional().describe("The hash of that block."),
    deployment: ReplyPath.exactOptional().describe("The ID of the deployment that answers."),
    failed: ReplyPath.exactOptional().describe(
      "A value that is true or not empty after indexing has failed.",
    ),
    not_started: z
      .array(z.union([z.string(), z.number(), z.null()]).meta({ expected: "a text, a number or null" }))
      .meta({ expected: "a list of values" })
      .exactOptional()
      .describe("Heights that mean that nothing is indexed yet, such as -1 or null; 0 always does."),
  })
  .superRefine(({ method, query, body }, context) => {
    const refuse = (key: string, message: string): void =>
      context.addIssue({ code: "custom", path: [key], message, params: { own: true } });
    if (method === "GET" && (query ?? body) !== undefined) {
      refuse("method", `GET sends no ${query === undefined ? "body" : "query"}`);
    } else if (query !== undefined && body !== undefined) {
      refuse("body", "found a body beside a query, expected one of them");
    } else if (method === "POST" && (query ?? body) === undefined) {
      refuse("query", "required key missing (expected a GraphQL query)");
    }
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
    height: Metric.exactOptional().describe(
      "The gauge of the last processed block. Dialects such as envio-metrics know theirs.",
    ),
    time: Metric.exactOptional().describe("The gauge of that block's time, in Unix seconds."),
    chain: LabelName.exactOptional().describe(
      "The label with the chain: its ID (also as in evm:8453), its slug, or a key of chains. Without it, the page is of one chain.",
    ),
    where: z
      .record(z.string(), text("a string; put numbers in quotes"))
      .meta({ expected: "a map of labels and values" })
      .exactOptional()
      .describe("The labels that a series must have."),
    chains: z
      .record(z.string(), text("the slug of a chain"))
      .meta({ expected: "a map of label values and chain slugs" })
      .exactOptional()
      .describe("The slugs of chains by the other values of that label, such as a project's own names."),
  })
  .meta({ expected: "a map with height" });

const Status = z
  .strictObject({
    url: Url.describe(`The index-node API, such as http://graph-node:8030/graphql. Placeholders, ${FILLED}`),
    deployment: text("the id of a deployment, or a placeholder such as {deployment}").describe(
      "The deployment's id, or a placeholder such as {deployment}.",
    ),
  })
  .meta({ expected: "a map with url and deployment" });

export const IndexerEntry = z
  .strictObject({
    variant: Name.describe("One way in which the protocol is indexed, such as multichain or subgraph."),
    tier: Name.default("production").describe("Which URL of the variant, such as production or testing."),
    dialect: z
      .enum(DIALECT_NAMES)
      .meta({ expected: `one of ${DIALECT_NAMES.join(", ")}` })
      .default("auto")
      .describe("The kind of indexer; auto detects it with the first poll."),
    custom: Custom.exactOptional().describe(
      "What dialect custom sends, and the paths of the values in the response.",
    ),
    metrics: Metrics.exactOptional().describe(
      "Which gauges of a Prometheus page dialect metrics reads. Beside another dialect of metrics pages: what that dialect does not know, such as where or chains.",
    ),
    url: Url.exactOptional().describe(
      `{chain}, {chain_id} and the chains' own values give each chain its own endpoint. ${FILLED}`,
    ),
    provider: Provider.exactOptional(),
    status: Status.exactOptional().describe(
      "The index-node API of the same graph-node: asked why a target of dialect graph is not ok.",
    ),
    headers: Headers.default({}).describe(`Sent with every request. ${FILLED}`),
    optional: Flag.default(false).describe(
      "Skip the indexer, with a warning, while one of its variables is not set.",
    ),
    explorer: Link.exactOptional().describe("Link to a page about the indexer."),
    playground: Link.exactOptional().describe("Link to a page for queries by hand."),
    budget: BudgetName.exactOptional().describe("The budget that its requests draw on."),
    schedule: Schedule.default("auto").describe(
      "When it is polled: a cron expression, or auto for the fastest schedule that fits the budget.",
    ),
    chains: Chains.describe(
      "The chains that it is expected to serve. One that is absent from its response is reported as missing.",
    ),
  })
  .meta({ expected: "a map with variant, url and chains" });

/** A node of a chain. A plain URL has the defaults of all keys. */
export const RpcEntry = z
  .union([
    Url,
    z.strictObject({
      url: Url.describe(`The node's URL. ${FILLED}`),
      dialect: z
        .enum(HEAD_DIALECTS)
        .meta({ expected: `one of ${HEAD_DIALECTS.join(", ")}` })
        .default("rpc")
        .describe("Where the head is read: from JSON-RPC, or from a page of metrics or JSON."),
      custom: Custom.exactOptional().describe("As in an indexer, with dialect custom."),
      metrics: Metrics.exactOptional().describe("As in an indexer, with a dialect that reads metrics."),
      headers: Headers.default({}).describe(`Sent with every request. ${FILLED}`),
      provider: Provider.exactOptional(),
      budget: BudgetName.exactOptional().describe("The budget that its requests draw on."),
      schedule: Schedule.exactOptional().describe(
        "When it is polled (default: `poll.rpc_schedule`): a cron expression, or auto for the fastest schedule that fits the budget.",
      ),
    }),
  ])
  .meta({ expected: "a URL, or a map with url", secret: true });

export type ChainValues = z.output<typeof ChainValues>;
export type CustomEntry = z.output<typeof Custom>;
export type IndexerEntry = z.output<typeof IndexerEntry>;
export type RpcEntry = z.output<typeof RpcEntry>;

function replyPath(pattern: string) {
  return z.string().regex(new RegExp(pattern)).meta({ expected: "a path such as indexer.blocks.0.number" });
}
