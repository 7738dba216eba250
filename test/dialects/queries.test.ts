import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import type { Form } from "../../src/core/model/fleet.ts";
import type { Selection } from "../../src/core/model/selection.ts";
import type { Question } from "../../src/dialects/dialect.ts";
import { FAMILIES, questionsFor } from "../../src/dialects/families.ts";
import { combineQuestion, whyNotCarried } from "../../src/dialects/selections.ts";
import { expectGolden } from "../support/golden.ts";
import { endpointOf } from "./endpoint-of.ts";
import { readFixture } from "./read-fixture.ts";

const NAMES = Object.keys(FAMILIES);

const ANY = { expect: { kind: "reply" }, maxLatencyMs: null, address: null } as const;

const SELECTIONS: readonly Selection[] = [
  { ...campaigns("base"), select: "Campaign(limit: 1) { id }" },
  { ...campaigns("ethereum"), select: "Campaign(limit: 2) { id }" },
  { probe: "claims", everyMs: 600_000, target: "base", select: "claims", ...ANY },
];

const CUSTOM = [
  "{sync{block}}",
  "\n query Sync {\n sync { ...S } }\nfragment S on Sync { block }",
  "query { sync { block } }",
];

describe("the queries", () => {
  it("are sent in this order with this text, alone and with parity selections", () => {
    const endpoints = {
      ...Object.fromEntries(NAMES.map((dialect) => [dialect, endpointOf(dialect, [1])])),
      "auto, one chain": endpointOf("auto", [1]),
      "auto, two chains": endpointOf("auto", [1, 10]),
      rpc: endpointOf("rpc", []),
      "graph-status": withDeployments(),
      ...Object.fromEntries(
        CUSTOM.map((query) => [`custom ${JSON.stringify(query)}`, customEndpoint(query)]),
      ),
    };

    const text = Object.entries(endpoints).map(([name, endpoint]) => {
      const lines = questionsFor(endpoint).flatMap((question) => [
        JSON.stringify(question.body),
        ...(name.startsWith("auto") || name === "rpc" || name === "graph-status" ? [] : [carried(question)]),
      ]);
      return [`# ${name}`, ...lines, ""].join("\n");
    });

    expectGolden("test/fixtures/queries.expected.txt", text.join("\n"));
  });

  it("are refused by servers of older schemas until one fits", () => {
    const first = {
      "graph/meta.graphql": 0,
      "graph/meta-0.20.graphql": 1,
      "envio/meta-with-time.graphql": 0,
      "envio/meta-2.28.graphql": 1,
      "envio/chain-metadata-2.27.graphql": 2,
      "ponder/meta.graphql": 0,
      "squid/status.graphql": 0,
      "squid/status-height-only.graphql": 1,
      "subquery/metadata.graphql": 0,
      "subquery/metadata-one-chain.graphql": 1,
    };

    const fitting = Object.keys(first).map((file) => {
      const schema = buildSchema(readFixture(file));
      const questions = questionsFor(endpointOf(file.split("/")[0] ?? "", [1]));
      return questions.findIndex((question) => validate(schema, parse(queryOf(question))).length === 0);
    });

    expect(fitting).toEqual(Object.values(first));
  });

  it("for statuses match the index-node API of graph-node", () => {
    const [question] = questionsFor(withDeployments());
    const schema = buildSchema(readFixture("graph-status/status.graphql"));

    expect(question === undefined ? [] : validate(schema, parse(queryOf(question)))).toEqual([]);
  });

  it("never give _meta an alias, because graph-node would drop it for a failed subgraph", () => {
    const queries = NAMES.flatMap((dialect) => questionsFor(endpointOf(dialect, [1])).map(queryOf));

    expect(queries.filter((query) => query.includes(":"))).toEqual([]);
  });

  it("carry no parity selections if the API has no data or a custom query has variables", () => {
    const reasons = ["auto", ...NAMES, "graph-status"].map((dialect) => whyNotCarried({ dialect }));
    const ofCustom = [...CUSTOM, "query Sync($at: Int) { sync(at: $at) { block } }", "mutation { a }"].map(
      (query) => whyNotCarried({ dialect: "custom", custom: customQuery(query) }),
    );

    const ofForms = [{ query: ["{ a }", "query Q($a: Int) { a }"] }, { body: { method: "a" } }, {}].map(
      (form) => whyNotCarried({ dialect: "custom", custom: { ...form, height: "a" } }),
    );

    const notCarried = "dialect custom sends no query that begins with { or with query NAME {";
    expect(ofForms).toEqual([notCarried, notCarried, notCarried]);
    expect(reasons).toEqual([
      ...Array.from({ length: 6 }, () => null),
      "dialect graph-status asks the index-node API, which has no data",
    ]);
    expect(ofCustom).toEqual([null, null, null, notCarried, notCarried]);
  });
});

function campaigns(target: string) {
  return { probe: "campaigns", everyMs: 600_000, target, ...ANY };
}

function queryOf({ body }: Question): string {
  return String(body?.["query"]);
}

/** The query with all probes beside the height; each selection must have the alias that it is read by. */
function carried(asked: Question): string {
  const targets = [
    { key: "base", chainId: 8_453 },
    { key: "ethereum", chainId: 1 },
  ];
  const { question, selections } = combineQuestion(asked, SELECTIONS, targets);
  const query = queryOf(question);
  expect(() => parse(query)).not.toThrow();
  return `  ${JSON.stringify(query)} ${selections.map(({ alias, probe, target }) => `${alias}=${probe}/${target}`).join(" ")}`;
}

function withDeployments() {
  const { targets, ...endpoint } = endpointOf("graph-status", [8453, 1, 10]);
  const deployments = ["Qm1", 'Qm"2'];
  return {
    ...endpoint,
    targets: targets.map((target, index) => {
      const deployment = deployments[index];
      return deployment === undefined ? target : { ...target, deployment };
    }),
  };
}

function customEndpoint(query: string) {
  return { ...endpointOf("custom", [1]), custom: customQuery(query) };
}

function customQuery(query: string): Form {
  return { query, height: "sync.block" };
}
