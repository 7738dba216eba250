import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/dialects/answer/outcome.ts";
import { readParity } from "../../../src/dialects/parity/read-parity.ts";

const HEAD: Outcome = {
  source: "base",
  kind: "head",
  head: { block: 400, timestampSec: null, hash: null, deployment: null, indexingErrors: null },
};

/** What is read of one selection under the alias `p0_1`. */
function read(
  answer: object | string,
  wanted: { path?: string; outcomes?: readonly Outcome[] } = {},
): unknown {
  const { path = "campaigns.0.id", outcomes = [HEAD] } = wanted;
  const selection = { probe: "rows", target: "base", alias: "p0_1", select: "", value: path.split(".") };
  const readings = readParity([selection], {
    body: typeof answer === "string" ? answer : JSON.stringify(answer),
    outcomes,
    times: { sentAtMs: 1, receivedAtMs: 2 },
  });
  return readings.map(({ probe, target, sentAtMs, receivedAtMs, ...content }) => {
    expect({ probe, target, sentAtMs, receivedAtMs }).toEqual({
      probe: "rows",
      target: "base",
      sentAtMs: 1,
      receivedAtMs: 2,
    });
    return content;
  })[0];
}

describe("readParity()", () => {
  it.each([
    { found: '"12.50"', text: "12.5", isNumber: true },
    { found: "9007199254740993", text: "9007199254740993", isNumber: true },
    { found: '"0xab"', text: '"0xab"', isNumber: false },
    { found: "true", text: "true", isNumber: false },
    { found: "null", text: "null", isNumber: false },
  ])("pairs $found with the block of the same answer", ({ found, text, isNumber }) => {
    expect(read(`{"data":{"_meta":{},"p0_1":[{"id":${found}}]}}`)).toEqual({
      kind: "value",
      block: 400,
      value: { text, isNumber },
    });
  });

  it.each([
    { case: "a list without rows", p0_1: [] },
    { case: "an object that is not there", p0_1: null },
    { case: "a row that is null", p0_1: [null] },
  ])("takes null for $case", ({ p0_1 }) => {
    expect(read({ data: { p0_1 } })).toMatchObject({ kind: "value", value: { text: "null" } });
  });

  it.each([
    {
      p0_1: { id: 1 },
      detail: 'Cannot follow path "0.id": no "0" in data.campaigns, which is an object with "id"',
    },
    {
      p0_1: [{ name: 1 }],
      detail: 'Cannot follow path "0.id": no "id" in data.campaigns.0, which is an object with "name"',
    },
    { p0_1: "x", detail: 'Cannot follow path "0.id": no "0" in data.campaigns, which is "x"' },
    {
      p0_1: [{ id: { a: 1 } }],
      detail: 'Cannot compare data.campaigns.0.id: expected one value, found an object with "a"',
    },
    {
      p0_1: [{ id: "x".repeat(300) }],
      detail: "Cannot compare data.campaigns.0.id: it has more than 256 characters",
    },
  ])("says what stood there: $detail", ({ p0_1, detail }) => {
    expect(read({ data: { p0_1 } })).toEqual({ kind: "failed", detail });
  });

  it.each([
    { case: "null where a resolver failed", data: { p0_1: null } },
    { case: "a list of nothing where a resolver failed", data: { p0_1: [null] } },
    { case: "no key at all, as from graph-node of a failed subgraph", data: { _meta: {} } },
  ])("takes the server's words for $case", ({ data }) => {
    expect(read({ data, errors: [{ message: "indexing_error" }] })).toEqual({
      kind: "failed",
      detail: "indexing_error",
    });
  });

  it("reads a value beside an error of something else", () => {
    const answer = { data: { p0_1: [{ id: 7 }] }, errors: [{ message: "other field" }] };

    expect(read(answer)).toMatchObject({ kind: "value", value: { text: "7" } });
  });

  it.each([
    { outcomes: [{ source: "base", kind: "missing" }] },
    { outcomes: [{ source: "base", kind: "failed", reason: "schema", detail: "no height" }] },
    { outcomes: [] },
  ] satisfies readonly { readonly outcomes: readonly Outcome[] }[])(
    "says nothing of a target without a height: $outcomes",
    ({ outcomes }) => {
      expect(read({ data: { p0_1: [{ id: 7 }] } }, { outcomes })).toBeUndefined();
    },
  );
});
