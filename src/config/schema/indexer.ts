import { z } from "zod";
import { DIALECT_NAMES } from "../../dialects/registry.ts";
import { Schedule } from "./cron.ts";
import { cannotUse, describeKind, expects, expectsSecret } from "./messages.ts";
import { Name, section } from "./section.ts";

/** The values of `dialect`. */
const DIALECTS = ["auto", ...DIALECT_NAMES];

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

const Path = z
  .string(expects("a path such as indexer.blocks.0.number"))
  .regex(/^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/, expects("a path such as indexer.blocks.0.number"));

/** The query of dialect `custom`, and the paths of the values in its response. */
const Custom = section(
  {
    query: z
      .string(expects("a GraphQL query"))
      .min(1, expects("a GraphQL query"))
      .describe("A GraphQL query."),
    rows: Path.optional().describe(
      "The list with one row for each chain. Without it, the response is one row.",
    ),
    height: Path.describe("The last processed block, in `data` or in a row of `rows`."),
    time: Path.optional().describe("The time of that block: seconds, or ISO 8601."),
    chain_id: Path.optional().describe("The chain ID of the row."),
    hash: Path.optional().describe("The hash of that block."),
    failed: Path.optional().describe("A value that is true or not empty after indexing has failed."),
  },
  "a map with query and height",
);

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
      .enum(DIALECTS, { error: ({ input }) => cannotUse(input, `one of ${DIALECTS.join(", ")}`) })
      .default("auto")
      .describe("The kind of indexer; auto detects it with the first poll."),
    custom: Custom.optional().describe(
      "The query of dialect custom, and the paths of the values in its response.",
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
