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
  it("says what was asked and what came back", () => {
    const failure = refusedByAll(DIALECTS.graph.questions, 'Cannot query field "_meta" on type "Query".');

    expect(failure).toEqual({
      reason: "schema",
      detail:
        "Cannot find a query that this server accepts: tried { _meta { block { number hash timestamp } hasIndexingErrors deployment } }, " +
        '{ _meta { block { number } } }; last answer: Cannot query field "_meta" on type "Query".',
    });
  });

  it("names the method of a node", () => {
    expect(refusedByAll(rpc.questions, "no such method").detail).toBe(
      "Cannot find a query that this server accepts: tried eth_getBlockByNumber; last answer: no such method",
    );
  });
});
