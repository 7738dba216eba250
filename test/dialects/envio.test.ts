import { describe, expect, it } from "vitest";
import type { Row } from "../../src/dialects/dialect.ts";
import { envio } from "../../src/dialects/envio.ts";
import { readFixture } from "./read-fixture.ts";

const [withTime, withoutTime, chainMetadata] = envio.questions;

function head(chainId: number, block: number, timestampSec: number | null = null): Row {
  const nothingElse = { hash: null, deployment: null, indexingErrors: null };
  return { chainId, content: { kind: "head", head: { block, timestampSec, ...nothingElse } } };
}

function notStarted(chainId: number): Row {
  return { chainId, content: { kind: "not_started" } };
}

describe("envio", () => {
  it.each([
    { file: "meta.json", question: withoutTime, rows: [head(1, 22817138), head(10, 137848820)] },
    {
      file: "meta-with-time.json",
      question: withTime,
      rows: [head(1, 22817138, 1751284811), head(10, 137848820)],
    },
    {
      file: "meta-of-strings.json",
      question: withTime,
      rows: [head(1, 22817138, 1751284811), head(10, 137848820, 1751284812)],
    },
    { file: "meta-not-started.json", question: withoutTime, rows: [notStarted(1), notStarted(10)] },
    { file: "chain-metadata.json", question: chainMetadata, rows: [head(1, 22817138), notStarted(10)] },
  ])("reads $file", ({ file, question, rows }) => {
    const { data } = JSON.parse(readFixture(`envio/${file}`));

    expect(question?.read(data)).toEqual({ kind: "rows", rows });
  });

  it("takes the text -1 for not started", () => {
    expect(withTime?.read({ _meta: [{ chainId: 1, progressBlock: "-1" }] })).toEqual({
      kind: "rows",
      rows: [notStarted(1)],
    });
  });

  it("reads an empty list as no rows", () => {
    expect(withTime?.read({ _meta: [] })).toEqual({ kind: "rows", rows: [] });
  });

  it.each([
    {
      case: "of a height of -2",
      row: { chainId: 10, progressBlock: -2 },
      chainId: 10,
      detail: "progressBlock as a height: -2",
    },
    {
      case: "without a height",
      row: { chainId: 10 },
      chainId: 10,
      detail: "progressBlock as a height: nothing",
    },
    { case: "that is a number", row: 5, chainId: null, detail: "a row of _meta: 5" },
    { case: "that is null", row: null, chainId: null, detail: "a row of _meta: null" },
  ])("fails a row $case, and no other", ({ row, chainId, detail }) => {
    const reading = withTime?.read({ _meta: [row, { chainId: 1, progressBlock: 7 }] });

    const content = { kind: "failed", reason: "schema", detail: `Cannot read ${detail}` };
    expect(reading).toEqual({ kind: "rows", rows: [{ chainId, content }, head(1, 7)] });
  });

  it("fails a row of chain_metadata that is none", () => {
    expect(chainMetadata?.read({ chain_metadata: ["x"] })).toEqual({
      kind: "rows",
      rows: [
        {
          chainId: null,
          content: { kind: "failed", reason: "schema", detail: 'Cannot read a row of chain_metadata: "x"' },
        },
      ],
    });
  });

  it.each([null, "1.5", 0, -1, {}, "one"])("names no chain for an id of %j", (chainId) => {
    const reading = withTime?.read({ _meta: [{ chainId, progressBlock: 7 }] });

    expect(reading).toMatchObject({ rows: [{ chainId: null, content: { kind: "head" } }] });
  });

  it.each([null, {}, { _meta: null }, { _meta: { block: { number: 7 } } }])("can't read %j", (data) => {
    expect(withTime?.read(data)).toMatchObject({ kind: "failed", reason: "schema" });
  });

  it("survives a height nested 100,000 lists deep", () => {
    const progressBlock = JSON.parse(`${"[".repeat(100_000)}-1${"]".repeat(100_000)}`);

    const reading = withTime?.read({ _meta: [{ chainId: 1, progressBlock }] });

    expect(reading).toMatchObject({
      rows: [{ content: { detail: "Cannot read progressBlock as a height: a list" } }],
    });
  });
});
