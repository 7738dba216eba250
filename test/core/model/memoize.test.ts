import { describe, expect, it } from "vitest";
import { jsonOf, memoize } from "../../../src/core/model/memoize.ts";

describe("memoize()", () => {
  it("calls the function once for each object, and again for an equal one", () => {
    const asked: object[] = [];
    const lengthOf = memoize((list: readonly string[]) => {
      asked.push(list);
      return `${list.length} entries`;
    });
    const [one, equal] = [["a"], ["a"]];

    const answers = [lengthOf(one), lengthOf(one), lengthOf(equal)];

    expect(answers).toEqual(["1 entries", "1 entries", "1 entries"]);
    expect(asked).toEqual([one, equal]);
  });
});

describe("jsonOf()", () => {
  it("writes JSON", () => {
    expect(jsonOf({ query: "{ x }", list: [1] })).toBe('{"query":"{ x }","list":[1]}');
  });
});
