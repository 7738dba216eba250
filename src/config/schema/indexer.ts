import { z } from "zod";
import { DIALECTS } from "../../dialects/registry.ts";
import { Schedule } from "./cron.ts";
import { expects, expectsSecret, show, unusable } from "./messages.ts";
import { Name } from "./name.ts";
import { section } from "./section.ts";

/** What `dialect` may say: `auto`, or one of the registry. */
const DIALECT_NAMES = ["auto", ...Object.keys(DIALECTS)];

const Url = z.string(expects("an http:// or https:// URL"));
const Link = z.string(expects("a URL, or null for none")).nullable();
const Headers = z.record(
  z.string(),
  z.string(expectsSecret("a text, in quotes where it looks like a number")),
  expects("a map of header names and values"),
);
const Budget = z.string(expects("the name of a budget, or null for none")).nullable();

/** What a chain may say for itself; the rest of its map are values for the placeholders. */
const OVERRIDES = {
  url: Url.optional().describe(
    "An endpoint of its own. Headers and budget do not follow it to another origin.",
  ),
  explorer: Link.optional(),
  playground: Link.optional(),
  schedule: Schedule.optional(),
  headers: Headers.optional().describe("In place of the indexer's headers."),
  budget: Budget.optional(),
};

/** The keys of a chain's map that are no placeholder values. */
export const OVERRIDE_KEYS: readonly string[] = Object.keys(OVERRIDES);

const OwnValue = z
  .union([z.string(), z.number(), z.boolean(), z.null()], {
    error: ({ input }) => `Cannot use ${show(input)} as a placeholder's value: expected a text`,
  })
  .describe("The value of a placeholder of this name.");

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

/** One indexer of a protocol, as chains.yaml tells it. */
export const IndexerEntry = section(
  {
    variant: Name.describe("One way in which the protocol is indexed, e.g. multichain or subgraph."),
    tier: Name.default("production").describe("Which URL of the variant, e.g. production or testing."),
    dialect: z
      .enum(DIALECT_NAMES, { error: ({ input }) => unusable(input, `one of ${DIALECT_NAMES.join(", ")}`) })
      .default("auto")
      .describe("How it is asked; auto finds out at the first contact."),
    url: Url.optional().describe(
      `{chain}, {chain_id} and the chains' own values make it one endpoint a chain. \${VAR} and \${file:/path} are filled in.`,
    ),
    headers: Headers.default({}).describe(`\${VAR} and \${file:/path} are filled in.`),
    optional: z
      .boolean(expects("true or false"))
      .default(false)
      .describe("Skipped, with a warning, while a variable it names is unset."),
    explorer: Link.optional().describe("A page about the indexer, for people."),
    playground: Link.optional().describe("A page to query it by hand, for people."),
    budget: Budget.optional().describe("What its requests draw on."),
    schedule: Schedule.default("auto").describe("When it is asked."),
    chains: Chains.describe(
      "The chains that it is expected to serve: one that its answer lacks is an alarm.",
    ),
  },
  "a map with variant, url and chains",
);

export type IndexerEntry = z.output<typeof IndexerEntry>;
export type ChainValues = z.output<typeof ChainValues>;
