import { z } from "zod";
import { DIALECTS } from "../../dialects/families.ts";
import { Schedule } from "./cron.ts";
import { cannotUse, describeKind, expects, expectsSecret } from "./messages.ts";
import { Name, section } from "./section.ts";

/** The values of `dialect`. */
const DIALECT_NAMES = Object.keys(DIALECTS);

const Url = z.string(expectsSecret("an http:// or https:// URL"));
const Link = z.string(expects("a URL, or null for none")).nullable();
const Headers = z.record(
  z.string(),
  z.string(expectsSecret("a string; put numbers in quotes")),
  expectsSecret("a map of header names and values"),
);
const Budget = z.string(expects("the name of a budget, or null for none")).nullable();

/** What a chain can override; the other keys of its map are values of placeholders. */
const OVERRIDES = {
  url: Url.optional().describe(
    "A URL of its own. The indexer's headers and budget do not apply to another origin.",
  ),
  explorer: Link.optional(),
  playground: Link.optional(),
  schedule: Schedule.optional(),
  headers: Headers.optional().describe("Replaces the indexer's headers."),
  budget: Budget.optional(),
};

/** The keys of a chain's map that are not values of placeholders. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const OwnValue = z
  .union([z.string(), z.number(), z.boolean(), z.null()], {
    error: ({ input }) =>
      `Cannot use ${describeKind(input)} as a placeholder's value: expected a string or a number`,
  })
  .describe("The value of the placeholder with this name.");

const ChainValues = z
  .object(OVERRIDES, expects("a map of placeholder values and overrides"))
  .catchall(OwnValue)
  .nullable()
  .transform((values) => values ?? {});

const Chains = z.union(
  [
    z.array(z.string(expects("the slug of a chain"))).meta({ minItems: 1 }),
    z.record(z.string(), ChainValues).meta({ minProperties: 1 }),
  ],
  expects("a list of chain slugs, or a map of them"),
);

const FIELDS = String.raw`(?:\$|\$key|[\w-]+(?:\.[\w-]+)*)`;
const PATH = expects("a path such as indexer.blocks.0.number");
const Path = z.string(PATH).regex(new RegExp(String.raw`^${FIELDS}(?:\|${FIELDS})*\??$`), PATH);
const Rows = z.string(PATH).regex(new RegExp(String.raw`^(?:${FIELDS}(?:\.\*)?|\*)$`), PATH);
const Query = z.string(expects("a GraphQL query")).min(1, expects("a GraphQL query"));

/** How dialect `custom` asks, and the paths of the values in the response. */
const Custom = section(
  {
    method: z
      .enum(["POST", "GET"], expects("POST or GET"))
      .default("POST")
      .describe("GET sends no body, and reads the whole response."),
    query: z
      .union([Query, z.array(Query).min(1, expects("a GraphQL query"))], expects("a GraphQL query"))
      .optional()
      .describe("A GraphQL query, or a list of them: the next one is sent when one is refused."),
    body: z
      .record(z.string(), z.unknown(), expects("a map that is sent as JSON"))
      .optional()
      .describe("The JSON that is sent in place of a query."),
    root: Path.optional().describe(
      "Where the other paths start; $ is the whole response. Default: data, or result.",
    ),
    rows: Rows.optional().describe(
      "The list with one row for each chain, or with .* at its end the map of them. Without it, the response is one row.",
    ),
    height: Path.describe("The last processed block, in `data` or in a row of `rows`."),
    time: Path.optional().describe("The time of that block: seconds, or ISO 8601."),
    chain_id: Path.optional().describe("The chain ID of the row."),
    hash: Path.optional().describe("The hash of that block."),
    deployment: Path.optional().describe("The ID of the deployment that answers."),
    failed: Path.optional().describe("A value that is true or not empty after indexing has failed."),
    not_started: z
      .array(
        z.union([z.string(), z.number(), z.null()], expects("a text, a number or null")),
        expects("a list of values"),
      )
      .optional()
      .describe("Heights that mean that nothing is indexed yet, such as -1 or null; 0 always does."),
  },
  "a map with query and height",
).superRefine(({ method, query, body }, { addIssue }) => {
  const isGet = method === "GET";
  if (isGet && (query ?? body) !== undefined) {
    const key = query === undefined ? "body" : "query";
    addIssue({ code: "custom", path: ["method"], message: `Cannot use method GET with a ${key}` });
  } else if (query !== undefined && body !== undefined) {
    addIssue({ code: "custom", path: ["body"], message: "Cannot use a body with a query" });
  } else if (!isGet && (query ?? body) === undefined) {
    const message = "Cannot find required key: expected a GraphQL query";
    addIssue({ code: "custom", path: ["query"], message });
  }
});

/** The index-node API of the graph-node behind an indexer of dialect `graph`. */
const Status = section(
  {
    url: Url.describe(
      `The index-node API, such as http://graph-node:8030/graphql. Placeholders, \${VAR} and \${file:/path} are replaced.`,
    ),
    deployment: z
      .string(expects("the id of a deployment, or a placeholder such as {deployment}"))
      .describe("The deployment's id, or a placeholder such as {deployment}."),
  },
  "a map with url and deployment",
);

/** One indexer of a protocol. */
export const IndexerEntry = section(
  {
    variant: Name.describe("One way in which the protocol is indexed, such as multichain or subgraph."),
    tier: Name.default("production").describe("Which URL of the variant, such as production or testing."),
    dialect: z
      .enum(DIALECT_NAMES, { error: ({ input }) => cannotUse(input, `one of ${DIALECT_NAMES.join(", ")}`) })
      .default("auto")
      .describe("The kind of indexer; auto detects it with the first poll."),
    custom: Custom.optional().describe(
      "What dialect custom sends, and the paths of the values in the response.",
    ),
    url: Url.optional().describe(
      `{chain}, {chain_id} and the chains' own values give each chain its own endpoint. \${VAR} and \${file:/path} are replaced.`,
    ),
    status: Status.optional().describe(
      "The index-node API of the same graph-node: asked why a target of dialect graph is not ok.",
    ),
    headers: Headers.default({}).describe(
      `Sent with every request. \${VAR} and \${file:/path} are replaced.`,
    ),
    optional: z
      .boolean(expects("true or false"))
      .default(false)
      .describe("Skip the indexer, with a warning, while one of its variables is not set."),
    explorer: Link.optional().describe("Link to a page about the indexer."),
    playground: Link.optional().describe("Link to a page for queries by hand."),
    budget: Budget.optional().describe("The budget that its requests draw on."),
    schedule: Schedule.default("auto").describe(
      "When it is polled: a cron expression, or auto for the fastest schedule that fits the budget.",
    ),
    chains: Chains.describe(
      "The chains that it is expected to serve. One that is absent from its response is reported as missing.",
    ),
  },
  "a map with variant, url and chains",
);

export type CustomEntry = z.output<typeof Custom>;
export type IndexerEntry = z.output<typeof IndexerEntry>;
export type ChainValues = z.output<typeof ChainValues>;
