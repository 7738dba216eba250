import { parse } from "graphql";
import { describe, expect, it } from "vitest";
import type { CustomQuery } from "../../../src/core/model/fleet.ts";
import type { CarriedProbe } from "../../../src/core/model/parity.ts";
import { customQuestions } from "../../../src/dialects/custom.ts";
import type { Question } from "../../../src/dialects/dialect.ts";
import { combineQuestion, whyNotCarried } from "../../../src/dialects/parity/combine.ts";
import { DIALECTS } from "../../../src/dialects/registry.ts";

const TARGETS = [
  { key: "base", chainId: 8_453 },
  { key: "ethereum", chainId: 1 },
];

const PROBES: readonly CarriedProbe[] = [
  {
    probe: "campaigns",
    everyMs: 600_000,
    selections: [
      { target: "base", select: "Campaign(limit: 1) { id }", value: ["Campaign", "0", "id"] },
      { target: "ethereum", select: "Campaign(limit: 2) { id }", value: ["Campaign", "0", "id"] },
    ],
  },
  {
    probe: "claims",
    everyMs: 600_000,
    selections: [{ target: "base", select: "claims", value: ["claims"] }],
  },
];

const SELECTED = "p0_8453: Campaign(limit: 1) { id } p0_1: Campaign(limit: 2) { id } p1_8453: claims";

function combined(question: Question): unknown {
  return combineQuestion(question, PROBES, TARGETS).question.body["query"];
}

describe("combineQuestion()", () => {
  it.each(
    Object.entries(DIALECTS).flatMap(([name, { questions }]) =>
      questions.map((question) => ({ name, question, query: String(question.body["query"]) })),
    ),
  )("puts one alias for each chain and probe beside the heights: $name $query", ({ question, query }) => {
    expect(combined(question)).toBe(query.replace("{", `{ ${SELECTED}`));
    expect(parse(String(combined(question))).definitions).toHaveLength(1);
  });

  it.each([
    { query: "{sync{block}}", wanted: `{ ${SELECTED} sync{block}}` },
    {
      query: "\n query Sync {\n sync { ...S } }\nfragment S on Sync { block }",
      wanted: `query Sync { ${SELECTED} sync { ...S } }`,
    },
  ])("puts them into a custom query: $query", ({ query, wanted }) => {
    const [question] = customQuestions(customQuery(query));

    const text = question === undefined ? "" : String(combined(question));

    expect(text).toContain(wanted);
    expect(() => parse(text)).not.toThrow();
  });

  it("names each selection by its alias", () => {
    const { selections } = combineQuestion(DIALECTS.envio.questions[0] as Question, PROBES, TARGETS);

    expect(selections.map(({ alias, probe, target }) => [alias, probe, target])).toEqual([
      ["p0_8453", "campaigns", "base"],
      ["p0_1", "campaigns", "ethereum"],
      ["p1_8453", "claims", "base"],
    ]);
  });
});

describe("whyNotCarried()", () => {
  it.each(["auto", ...Object.keys(DIALECTS)])("has nothing against %s", (dialect) => {
    expect(whyNotCarried({ dialect })).toBeNull();
  });

  it("names what a dialect lacks", () => {
    expect(whyNotCarried({ dialect: "graph-status" })).toContain("index-node API");
    const custom = customQuery("query Sync($at: Int) { sync(at: $at) { block } }");
    expect(whyNotCarried({ dialect: "custom", custom })).toContain("must begin with {");
  });
});

function customQuery(query: string): CustomQuery {
  return { query, rows: null, height: "sync.block", time: null, chainId: null, hash: null, failed: null };
}
