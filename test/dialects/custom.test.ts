import { describe, expect, it } from "vitest";
import type { CustomQuery } from "../../src/core/model/fleet.ts";
import { customQuestions } from "../../src/dialects/custom.ts";
import type { Reading } from "../../src/dialects/dialect.ts";

function read(custom: Partial<CustomQuery>, data: unknown): Reading | undefined {
  const all: CustomQuery = {
    query: "{ x }",
    rows: null,
    height: "a.b.0.c",
    time: null,
    chainId: null,
    hash: null,
    failed: null,
    ...custom,
  };
  return customQuestions(all)[0]?.read(data);
}

function failedRow(detail: string): unknown {
  return { kind: "rows", rows: [{ chainId: null, content: { kind: "failed", reason: "schema", detail } }] };
}

describe("customQuestions()", () => {
  it("asks the query as it is configured", () => {
    const query = "{ lastBlock }";

    const questions = customQuestions({
      query,
      height: "lastBlock",
      rows: null,
      time: null,
      chainId: null,
      hash: null,
      failed: null,
    });

    expect(questions.map(({ body }) => body)).toEqual([{ query }]);
  });

  it("reads everything that has a path", () => {
    const data = { a: { b: [{ c: "7", t: "2025-09-15T04:59:05Z", h: "0xab", id: "8453", bad: "no" }] } };
    const paths = { rows: "a.b", height: "c", time: "t", chainId: "id", hash: "h", failed: "bad" };

    expect(read(paths, data)).toEqual({
      kind: "rows",
      rows: [
        {
          chainId: 8453,
          content: {
            kind: "head",
            head: {
              block: 7,
              timestampSec: 1757912345,
              hash: "0xab",
              deployment: null,
              indexingErrors: true,
            },
          },
        },
      ],
    });
  });

  it.each([false, null, 0, "", "false", []])("takes %j at the path failed for no failure", (failed) => {
    expect(read({ height: "n", failed: "bad" }, { n: 7, bad: failed })).toMatchObject({
      rows: [{ content: { head: { indexingErrors: false } } }],
    });
  });

  it.each([true, "handler failed", 1, ["error"], { message: "no" }])(
    "takes %j at the path failed for a failure",
    (failed) => {
      expect(read({ height: "n", failed: "bad" }, { n: 7, bad: failed })).toMatchObject({
        rows: [{ content: { head: { indexingErrors: true } } }],
      });
    },
  );

  it.each([
    { data: null, found: 'no "a" in data, which is null' },
    { data: {}, found: 'no "a" in data, which is an empty object' },
    { data: { A: 1, z: 2 }, found: 'no "a" in data, which is an object with "A", "z"' },
    { data: { a: 5 }, found: 'no "b" in data.a, which is 5' },
    { data: { a: { b: [] } }, found: 'no "0" in data.a.b, which is a list of 0' },
    { data: { a: { b: "x" } }, found: 'no "0" in data.a.b, which is "x"' },
    { data: { a: { b: [{ d: 1 }] } }, found: 'no "c" in data.a.b.0, which is an object with "d"' },
  ])("says what stood where the path leads nowhere: $found", ({ data, found }) => {
    expect(read({}, data)).toEqual(failedRow(`Cannot follow path "a.b.0.c": ${found}`));
  });

  it.each([
    { path: "time", custom: { time: "t" } },
    { path: "hash", custom: { hash: "t" } },
    { path: "failed", custom: { failed: "t" } },
    { path: "chain_id", custom: { chainId: "t" } },
  ])("wants the path $path to lead somewhere", ({ custom }) => {
    expect(read({ height: "n", ...custom }, { n: 7 })).toEqual(
      failedRow('Cannot follow path "t": no "t" in data, which is an object with "n"'),
    );
  });

  it.each([
    { value: null, detail: "Cannot read data.n as a height: null" },
    { value: "soon", detail: 'Cannot read data.n as a height: "soon"' },
    { value: { n: 1 }, detail: "Cannot read data.n as a height: an object" },
  ])("takes no $value for a height", ({ value, detail }) => {
    expect(read({ height: "n" }, { n: value })).toEqual(failedRow(detail));
  });

  it("fails the row whose chain id is none, and no other", () => {
    const data = { rows: [{ id: "base", n: 7 }, 5, { id: 1, n: 8 }] };

    expect(read({ rows: "rows", height: "n", chainId: "id" }, data)).toMatchObject({
      rows: [
        { chainId: null, content: { detail: 'Cannot read data.rows.0.id as a chain id: "base"' } },
        { chainId: null, content: { detail: 'Cannot follow path "id": no "id" in data.rows.1, which is 5' } },
        { chainId: 1, content: { head: { block: 8 } } },
      ],
    });
  });

  it.each([
    { rows: "list", detail: "Cannot read data.list as a list of rows: an object" },
    { rows: "none", detail: 'Cannot follow path "none": no "none" in data, which is an object with "list"' },
  ])("fails as a whole where rows lead to no list: $detail", ({ rows, detail }) => {
    expect(read({ rows, height: "n" }, { list: {} })).toEqual({ kind: "failed", reason: "schema", detail });
  });

  it("takes the length of a list for no height", () => {
    expect(read({ height: "blocks.length" }, { blocks: [{}, {}] })).toEqual(
      failedRow('Cannot follow path "blocks.length": no "length" in data.blocks, which is a list of 2'),
    );
    expect(read({ height: "blocks.length" }, { blocks: { length: 7 } })).toMatchObject({
      rows: [{ content: { kind: "head", head: { block: 7 } } }],
    });
  });

  it("follows no inherited property", () => {
    expect(read({ height: "constructor.length" }, {})).toMatchObject(
      failedRow(
        'Cannot follow path "constructor.length": no "constructor" in data, which is an empty object',
      ) as object,
    );
  });
});
