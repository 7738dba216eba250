import { describe, expect, it } from "vitest";
import { graph, readMetaBlock } from "../../src/dialects/graph.ts";
import { readFixture } from "./read-fixture.ts";

function dataOf(file: string): unknown {
  return JSON.parse(readFixture(file)).data;
}

const HASH = "0xf8ccbd3877eb98c958614f395dd351211afb9abba187bfc1fb4ac414b099c4a6";
const DEPLOYMENT = "QmPy7o9wnKEidMJUvVTiDdne2rrdJ28v122b7WJK6oRQkH";

describe("graph", () => {
  it.each([
    {
      file: "graph/meta.json",
      rest: { timestampSec: 1757912345, hash: HASH, deployment: DEPLOYMENT, indexingErrors: false },
    },
    {
      file: "graph/meta-plain.json",
      rest: { timestampSec: null, hash: null, deployment: null, indexingErrors: null },
    },
    {
      file: "graph/meta-without-time.json",
      rest: { timestampSec: null, hash: null, deployment: DEPLOYMENT, indexingErrors: false },
    },
    {
      file: "graph/meta-beside-indexing-error.json",
      rest: { timestampSec: 1757912345, hash: HASH, deployment: DEPLOYMENT, indexingErrors: true },
    },
  ])("reads $file with every question", ({ file, rest }) => {
    const readings = graph.questions.map((question) => question.read(dataOf(file)));

    const row = { chainId: null, content: { kind: "head", head: { block: 23368264, ...rest } } };
    expect(readings).toEqual([
      { kind: "rows", rows: [row] },
      { kind: "rows", rows: [row] },
    ]);
  });
});

describe("readMetaBlock()", () => {
  it("takes block 0 of a deployment that starts at block 1 for not started", () => {
    expect(readMetaBlock(dataOf("graph/meta-at-genesis.json"))).toEqual({
      kind: "rows",
      rows: [{ chainId: null, content: { kind: "not_started" } }],
    });
  });

  it("reads the flag and the height of a deployment that failed for good", () => {
    expect(readMetaBlock(dataOf("graph/meta-failed-0.44.json"))).toMatchObject({
      rows: [{ content: { kind: "head", head: { block: 403, indexingErrors: true } } }],
    });
  });

  it.each([
    { number: -1, found: "-1" },
    { number: 1.5, found: "1.5" },
    { number: 2 ** 53, found: "9007199254740992" },
    { number: "0x10", found: '"0x10"' },
    { number: null, found: "null" },
    { number: { a: 1 }, found: "an object" },
    { number: [1], found: "a list" },
    { number: true, found: "true" },
  ])("takes no number $found for a height, and names it", ({ number, found }) => {
    const detail = `Cannot read _meta.block.number as a height: ${found}`;

    expect(readMetaBlock({ _meta: { block: { number } } })).toEqual({
      kind: "rows",
      rows: [{ chainId: null, content: { kind: "failed", reason: "schema", detail } }],
    });
  });

  it.each([
    { data: null, detail: "Cannot read data: Invalid input: expected object, received null" },
    {
      data: { _meta: null },
      detail: "Cannot read data._meta: Invalid input: expected object, received null",
    },
    {
      data: { _meta: { hasIndexingErrors: true } },
      detail: expect.stringMatching(/^Cannot read data\._meta\.block: /),
    },
    {
      data: { _meta: { block: {} } },
      detail: expect.stringMatching(/^Cannot read data\._meta\.block\.number: /),
    },
    { data: { _meta: [] }, detail: expect.stringMatching(/received array$/) },
  ])("says where $data differs", ({ data, detail }) => {
    expect(readMetaBlock(data)).toEqual({ kind: "failed", reason: "schema", detail });
  });

  it.each([
    { field: "deployment", meta: { deployment: 'Qm"}\n# bad', block: { number: 7 } } },
    { field: "hash", meta: { block: { number: 7, hash: "x".repeat(100_000) } } },
    { field: "timestamp", meta: { block: { number: 7, timestamp: 1757912345000 } } },
    { field: "hasIndexingErrors", meta: { hasIndexingErrors: "no", block: { number: 7 } } },
  ])("leaves out a bad $field and keeps the height", ({ meta }) => {
    const nothingElse = { timestampSec: null, hash: null, deployment: null, indexingErrors: null };

    expect(readMetaBlock({ _meta: meta })).toMatchObject({
      rows: [{ content: { kind: "head", head: { block: 7, ...nothingElse } } }],
    });
  });
});
