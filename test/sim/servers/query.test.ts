import { describe, expect, it } from "vitest";

import { parseQuery } from "../../../src/sim/servers/query.ts";

describe("parseQuery()", () => {
  it("reads names, aliases, nested fields and literal arguments", () => {
    const text = `query Heights {
      head: _meta(block: { number_gte: 12 }, where: { id: { _in: [1, "two", true, null, three] } }) {
        block { number } # the height
      }
    }`;

    const fields = parseQuery(text);

    const number = { key: "number", name: "number", args: {}, fields: null };
    expect(fields).toEqual([
      {
        key: "head",
        name: "_meta",
        args: { block: { number_gte: 12 }, where: { id: { _in: [1, "two", true, null, "three"] } } },
        fields: [{ key: "block", name: "block", args: {}, fields: [number] }],
      },
    ]);
  });

  it.each([
    { text: "", problem: "Unexpected end of the query" },
    { text: "{ }", problem: "Expected a field, found none" },
    { text: "{ _meta { number }", problem: "Unexpected end of the query" },
    { text: "{ a } b", problem: 'Unexpected "b"' },
    { text: "{ _meta: { block { number } } }", problem: 'Expected a name, found "{"' },
    { text: "{ a(b: $c) }", problem: 'Expected a value, found "$"' },
    { text: "{ a(b 1) }", problem: 'Expected ":", found "1"' },
    { text: "mutation { a }", problem: 'Expected "{", found "mutation"' },
    { text: "{ a; }", problem: 'Unexpected ";"' },
  ])("refuses $text", ({ text, problem }) => {
    expect(() => parseQuery(text)).toThrow(problem);
  });
});
