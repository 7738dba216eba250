import { describe, expect, it } from "vitest";
import { type JudgedPair, oddOnesOut } from "../../../src/core/parity/odd-one-out.ts";

/** `a=b` is equal, `a!b` different, `a?b` unknown. */
function pairs(...texts: readonly string[]): readonly JudgedPair[] {
  const results = { "=": "equal", "!": "different", "?": "unknown" } as const;
  return texts.map((text) => {
    const sign = text.charAt(1) === "=" || text.charAt(1) === "!" ? text.charAt(1) : "?";
    return {
      target: text.charAt(0),
      against: text.charAt(2),
      result: sign === "=" || sign === "!" ? results[sign] : "unknown",
    };
  });
}

describe("oddOnesOut()", () => {
  it.each([
    { said: ["a=b", "a!c", "b!c"], odd: { c: ["a", "b"] } },
    { said: ["a=b", "a?c", "b!c"], odd: { c: ["a", "b"] } },
    { said: ["a=b", "c!a", "c?b"], odd: { c: ["a", "b"] } },
    { said: ["a=b", "b=c", "a?c", "a!d"], odd: { d: ["a", "b", "c"] } },
    { said: ["a=b", "c=d", "b=c", "a!e"], odd: { e: ["a", "b", "c", "d"] } },
    { said: ["a=b", "a!c", "b!c", "a!d", "c!d"], odd: { c: ["a", "b"], d: ["a", "b"] } },
    { said: ["a=b", "a!c", "a?d", "b?d"], odd: { c: ["a", "b"] } },
    { said: ["a=b", "b=c", "a!d", "d=e", "e!b"], odd: { d: ["a", "b", "c"], e: ["a", "b", "c"] } },
  ])("of $said are $odd", ({ said, odd }) => {
    const found = oddOnesOut(pairs(...said));

    expect(Object.fromEntries([...found].map(([key, others]) => [key, others.toSorted()]))).toEqual(odd);
  });

  it.each([
    { case: "two differ", said: ["a!b"] },
    { case: "all differ", said: ["a!b", "a!c", "b!c"] },
    { case: "all are equal", said: ["a=b", "b=c", "a=c"] },
    { case: "the third was not compared", said: ["a=b", "a?c", "b?c"] },
    { case: "as many stand on each side", said: ["a=b", "c=d", "a!c", "b!d"] },
    { case: "two differ that are both equal to a third", said: ["a=b", "b=c", "a!c"] },
    { case: "the odd one differs from another odd one alone", said: ["a=b", "c!d"] },
    { case: "there is nothing to compare", said: [] },
  ])("names nobody where $case", ({ said }) => {
    expect([...oddOnesOut(pairs(...said))]).toEqual([]);
  });
});
