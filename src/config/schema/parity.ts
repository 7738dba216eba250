import { z } from "zod";
import { cannotUse, describeValue, expects } from "./messages.ts";
import { Duration, durationLiteral } from "./quantities.ts";
import { Name, section } from "./section.ts";

const MAX_NAME_CHARACTERS = 40;
const MAX_PROBES = 20;
const MAX_SELECTION_CHARACTERS = 2_000;
const SHORTEST_EVERY_MS = 10_000;
/** What a server refuses is asked again within a day. */
const LONGEST_EVERY_MS = 86_400_000;

const PATH = "a path such as campaigns.0.subgraphId";
const SELECTION = "a GraphQL selection such as campaigns(first: 1) { subgraphId }";

const Query = section(
  {
    select: z
      .string(expects(SELECTION))
      .min(1, expects(SELECTION))
      .max(MAX_SELECTION_CHARACTERS, {
        error: ({ input }) => `Cannot use a selection of ${lengthOf(input)} characters: ${LONGEST_SELECTION}`,
      })
      .describe(
        "One GraphQL selection, asked in the same request as the height. {chain}, {chain_id} and the chains' own values are replaced.",
      ),
    value: z
      .string(expects(PATH))
      .regex(/^[A-Za-z_]\w*(?:\.\w+)*$/, expects(PATH))
      .describe("Where the value is in the answer: names of fields, and positions in lists from 0."),
  },
  "a map with select and value",
);

const LONGEST_SELECTION = `expected at most ${MAX_SELECTION_CHARACTERS}`;

/** One value of a protocol that must be equal in several variants. */
export const ParityEntry = section(
  {
    name: Name.max(MAX_NAME_CHARACTERS, {
      error: ({ input }) => cannotUse(input, `a name of at most ${MAX_NAME_CHARACTERS} characters`),
    }).describe("Name of the probe, a metric label."),
    protocol: z
      .string(expects("the name of a protocol"))
      .describe("The protocol whose variants are compared."),
    every: Duration.prefault("10m")
      .refine((ms) => ms >= SHORTEST_EVERY_MS && ms <= LONGEST_EVERY_MS, {
        error: ({ input }) =>
          `Cannot compare every ${describeDuration(input)}: expected a duration from ${durationLiteral(SHORTEST_EVERY_MS)} to ${durationLiteral(LONGEST_EVERY_MS)}`,
      })
      .describe("The first poll that falls due after this time carries the selection."),
    chains: z
      .array(z.string(expects("the slug of a chain")), expects("a list of chain slugs"))
      .min(1, expects("at least one chain; leave chains out for all that two of the variants serve"))
      .optional()
      .describe("The chains on which the variants are compared (default: all that two of them serve)."),
    queries: z
      .record(z.string(), Query, expects("a map of variants, each with select and value"))
      .meta({ description: "What each variant is asked; at least two variants.", minProperties: 2 }),
  },
  "a map with name, protocol and queries",
);

/** The list of `parity`. */
export const Parity = z.array(ParityEntry, expects("a list of probes")).max(MAX_PROBES, {
  error: ({ input }) => `Cannot use ${lengthOf(input)} probes: expected at most ${MAX_PROBES}`,
});

export type ParityEntry = z.output<typeof ParityEntry>;

function lengthOf(input: unknown): number {
  return typeof input === "string" || Array.isArray(input) ? input.length : 0;
}

function describeDuration(ms: unknown): string {
  return typeof ms === "number" ? durationLiteral(ms) : describeValue(ms);
}
