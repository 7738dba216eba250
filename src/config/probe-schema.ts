import { z } from "zod";
import { Duration, Interval } from "./quantities.ts";
import { listOf, map, mapOf, Name, optional, pattern, Slug, text, Url } from "./values.ts";

const Selection = text("a GraphQL selection such as campaigns(first: 1) { subgraphId }", 2_000);
const ProbeName = Name.max(40).meta({
  expected: "a name of at most 40 lower-case letters, digits and dashes",
});

const EXPECTED = "rows, or the first value of the reply";
const Expected = z.union([z.string(), z.number(), z.boolean(), z.null()]).meta({ expected: EXPECTED });

const ProbeEntry = map(
  "a map with query",
  {
    query: Selection.describe("A GraphQL selection, sent with the query for the height."),
    url: optional(
      Url,
      "URL for the query, which is then sent in a separate request: for dialects that send no GraphQL.",
    ),
    expect: optional(
      Expected,
      "rows: the reply must have at least one row. Any other value, such as 42: the first value of the reply must equal it. Default: any reply but an error.",
    ),
    every: Interval.prefault("5m").describe("How often it is sent."),
    max_latency: optional(
      Duration,
      "A reply that takes longer is a failure, because clients give up by then.",
    ),
  },
  ["url", "expect", "every", "max_latency"],
);

const MOST_PROBES = 20;
const PROBES = `a map of at most ${MOST_PROBES} probes by name`;

export const Probes = mapOf(ProbeEntry, PROBES, ProbeName)
  .refine((probes) => Object.keys(probes).length <= MOST_PROBES)
  .meta({ expected: PROBES, maxProperties: MOST_PROBES });

const ValuePath = pattern(/^[A-Za-z_]\w*(?:\.\w+)*$/, "a path such as campaigns.0.subgraphId");
const ParityQuery = map("a map with select and value", {
  select: Selection.describe("A GraphQL selection, sent with the query for the height."),
  value: ValuePath.describe("Path of the value: fields, and list positions from 0."),
});

export const ParityEntry = map(
  "a map with name, protocol and queries",
  {
    name: ProbeName.describe("Name of the probe, a metric label."),
    protocol: text("the name of a protocol").describe("The protocol whose variants are compared."),
    // An interval is at most a day, so a selection that a server refused is tried again within a day.
    every: Interval.prefault("10m").describe("How often the value is queried."),
    chains: listOf(Slug, "a list of chain slugs")
      .min(1)
      .exactOptional()
      .describe("Where the variants are compared (default: on every chain that two of them serve)."),
    queries: mapOf(ParityQuery, "a map of variants, each with select and value").meta({
      description: "The query for each variant; at least two variants.",
      minProperties: 2,
    }),
  },
  ["every"],
);

export type ProbeEntry = z.output<typeof ProbeEntry>;
export type ParityEntry = z.output<typeof ParityEntry>;
