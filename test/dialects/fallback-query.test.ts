import { describe, expect, it } from "vitest";
import { nextQuestion, refusedByAll } from "../../src/dialects/fallback-query.ts";
import { DIALECTS } from "../../src/dialects/registry.ts";
import { rpc } from "../../src/dialects/rpc.ts";

describe("nextQuestion()", () => {
  it("asks every question once, wherever it starts, and comes back", () => {
    const asked = [1, nextQuestion(1, 3), nextQuestion(nextQuestion(1, 3), 3)];

    expect(asked).toEqual([1, 2, 0]);
    expect(nextQuestion(0, 1)).toBe(0);
  });
});

describe("refusedByAll()", () => {
  it("says that the server answered, what was expected, what was found, and how to find out more", () => {
    const endpoint = { dialect: "graph", host: "indexer.example" };
    const found = 'Cannot query field "_meta" on type "Query".';

    const failure = refusedByAll(endpoint, DIALECTS.graph.questions[1], found);

    expect(failure).toEqual({
      reason: "schema",
      detail:
        "indexer.example answers, but not in dialect graph: expected an answer to { _meta { block { number } } }, " +
        'found: Cannot query field "_meta" on type "Query"; synclag probe URL shows what it serves',
    });
  });

  it("names the method of a node", () => {
    const endpoint = { dialect: "rpc", host: "node.example:8545" };

    expect(refusedByAll(endpoint, rpc.questions[0], "no such method").detail).toContain(
      "node.example:8545 answers, but not in dialect rpc: expected an answer to eth_getBlockByNumber, found: no such method; ",
    );
  });
});
