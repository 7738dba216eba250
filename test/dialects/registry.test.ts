import { describe, expect, it } from "vitest";
import { DIALECTS, questionsFor } from "../../src/dialects/registry.ts";
import { rpc } from "../../src/dialects/rpc.ts";
import { endpointOf } from "./endpoint-of.ts";

const { graph, envio, ponder, squid, subquery } = DIALECTS;

describe("questionsFor()", () => {
  it.each(Object.entries(DIALECTS))("asks the questions of %s where it is configured", (name, dialect) => {
    expect(questionsFor(endpointOf(name, [1]))).toBe(dialect.questions);
  });

  it.each([
    { case: "one chain", chainIds: [1], order: [graph, envio, ponder, squid, subquery] },
    { case: "several chains", chainIds: [1, 10], order: [envio, ponder, squid, subquery, graph] },
  ])("asks everything of an unknown endpoint of $case, likeliest first", ({ chainIds, order }) => {
    expect(questionsFor(endpointOf("auto", chainIds))).toEqual(order.flatMap(({ questions }) => questions));
  });

  it("asks a node for its latest block", () => {
    expect(questionsFor(endpointOf("rpc", []))).toBe(rpc.questions);
  });

  it.each(["unheard-of", "constructor", "__proto__"])(
    "throws for the dialect %s that no configuration lets pass",
    (name) => {
      expect(() => questionsFor(endpointOf(name, [1]))).toThrow(
        new RangeError(`Cannot use dialect "${name}": it is not in the registry`),
      );
    },
  );
});
