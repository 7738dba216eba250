import { describe, expect, it } from "vitest";
import { subquery } from "../../src/dialects/subquery.ts";
import { readFixture } from "./read-fixture.ts";

const [many, one] = subquery.questions;

function dataOf(file: string): unknown {
  return JSON.parse(readFixture(file)).data;
}

function head(block: number) {
  const nothingElse = { timestampSec: null, hash: null, deployment: null, indexingErrors: null };
  return { kind: "head", head: { block, ...nothingElse } };
}

describe("subquery", () => {
  it("reads a row for each chain, one of which has not started", () => {
    expect(many?.read(dataOf("subquery/metadatas.json"))).toEqual({
      kind: "rows",
      rows: [
        { chainId: 1, content: head(23368264) },
        { chainId: 8453, content: { kind: "not_started" } },
      ],
    });
  });

  it.each([
    { file: "subquery/metadata.json", content: head(398) },
    { file: "subquery/metadata-null.json", content: { kind: "not_started" } },
  ])("reads $file, which names no chain id", ({ file, content }) => {
    expect(one?.read(dataOf(file))).toEqual({ kind: "rows", rows: [{ chainId: null, content }] });
  });

  it("fails the broken rows, and no other", () => {
    expect(many?.read(dataOf("subquery/metadatas-broken.json"))).toMatchObject({
      rows: [
        { chainId: null, content: { kind: "failed", detail: "Cannot read a row of metadata: null" } },
        { chainId: 10, content: { detail: 'Cannot read lastProcessedHeight as a height: "soon"' } },
        { chainId: 1, content: head(7) },
      ],
    });
  });

  it("says where other data differs", () => {
    expect(many?.read({ _metadatas: null })).toMatchObject({
      kind: "failed",
      detail: expect.stringMatching(/^Cannot read data\._metadatas: /),
    });
  });
});
