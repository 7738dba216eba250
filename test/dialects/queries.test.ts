import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import type { Question } from "../../src/dialects/dialect.ts";
import { DIALECTS } from "../../src/dialects/registry.ts";
import { readFixture } from "./read-fixture.ts";

function queryOf(question: Question | undefined): string {
  return String(question?.body["query"]);
}

function errorsOf(query: string, schema: string): readonly string[] {
  return validate(buildSchema(readFixture(schema)), parse(query)).map(({ message }) => message);
}

/** Which question of a dialect is the first that a server of this schema does not refuse. */
const FITS = [
  { dialect: "graph", schema: "graph/meta.graphql", first: 0 },
  { dialect: "graph", schema: "graph/meta-0.20.graphql", first: 1 },
  { dialect: "envio", schema: "envio/meta-with-time.graphql", first: 0 },
  { dialect: "envio", schema: "envio/meta-2.28.graphql", first: 1 },
  { dialect: "envio", schema: "envio/chain-metadata-2.27.graphql", first: 2 },
  { dialect: "ponder", schema: "ponder/meta.graphql", first: 0 },
  { dialect: "squid", schema: "squid/status.graphql", first: 0 },
  { dialect: "squid", schema: "squid/status-height-only.graphql", first: 1 },
  { dialect: "subquery", schema: "subquery/metadata.graphql", first: 0 },
  { dialect: "subquery", schema: "subquery/metadata-one-chain.graphql", first: 1 },
] as const;

describe("the questions", () => {
  it.each(FITS)("of $dialect fit $schema from number $first on", ({ dialect, schema, first }) => {
    const refused = DIALECTS[dialect].questions.map(
      (question) => errorsOf(queryOf(question), schema).length > 0,
    );

    expect(refused.indexOf(false)).toBe(first);
  });

  it.each(
    Object.entries(DIALECTS).flatMap(([dialect, { questions }]) =>
      questions.map((question) => ({ dialect, question })),
    ),
  )("of $dialect are bodies of the one key query", ({ question }) => {
    expect(Object.keys(question.body)).toEqual(["query"]);
    expect(() => parse(queryOf(question))).not.toThrow();
  });

  it("never give _meta an alias, for graph-node would drop it on a failed subgraph", () => {
    const queries = Object.values(DIALECTS).flatMap(({ questions }) => questions.map(queryOf));

    expect(queries.filter((query) => query.includes(":"))).toEqual([]);
  });
});
