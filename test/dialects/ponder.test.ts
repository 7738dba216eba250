import { describe, expect, it } from "vitest";
import type { Reading } from "../../src/dialects/dialect.ts";
import { ponder } from "../../src/dialects/ponder.ts";
import { readFixture } from "./read-fixture.ts";

function read(data: unknown): Reading | undefined {
  return ponder.questions[0]?.read(data);
}

const HEAD = {
  kind: "head",
  head: { block: 20293450, timestampSec: 1720823759, hash: null, deployment: null, indexingErrors: null },
};

describe("ponder", () => {
  it.each([
    { file: "status.json", keys: "chain names" },
    { file: "status-0.9.json", keys: "chain ids" },
  ])("reads $file, keyed by $keys", ({ file }) => {
    const { data } = JSON.parse(readFixture(`ponder/${file}`));

    expect(read(data)).toEqual({
      kind: "rows",
      rows: [
        { chainId: 1, content: HEAD },
        { chainId: 8453, content: { kind: "not_started" } },
      ],
    });
  });

  it("takes the first checkpoint at genesis for not started", () => {
    const { data } = JSON.parse(readFixture("ponder/status-at-genesis.json"));

    expect(read(data)).toEqual({ kind: "rows", rows: [{ chainId: 1, content: { kind: "not_started" } }] });
  });

  it("takes a status without any chain for not started, whatever the chain", () => {
    expect(read({ _meta: { status: {} } })).toEqual({
      kind: "rows",
      rows: [{ chainId: null, content: { kind: "not_started" } }],
    });
  });

  it.each([
    { entry: 5, detail: "Cannot read a chain of _meta.status: 5" },
    { entry: { id: 10 }, detail: "Cannot read block: nothing" },
    { entry: { id: 10, block: "x" }, detail: 'Cannot read block: "x"' },
    { entry: { id: 10, block: { number: -1 } }, detail: "Cannot read block.number as a height: -1" },
  ])("fails $entry, and no other chain", ({ entry, detail }) => {
    const good = { id: 1, block: { number: 20293450, timestamp: 1720823759 } };

    expect(read({ _meta: { status: { "10": entry, mainnet: good } } })).toEqual({
      kind: "rows",
      rows: [
        { chainId: 10, content: { kind: "failed", reason: "schema", detail } },
        { chainId: 1, content: HEAD },
      ],
    });
  });

  it("takes __proto__ and constructor for names of chains, if for anything", () => {
    const status = JSON.parse(
      '{"__proto__":{"id":7,"block":{"number":1}},"constructor":{"id":1,"block":{"number":2}}}',
    );

    const reading = read({ _meta: { status } });

    expect(reading).toMatchObject({
      kind: "rows",
      rows: expect.arrayContaining([expect.objectContaining({ chainId: 1 })]),
    });
    expect(Object.keys({})).toEqual([]);
  });

  it.each([null, {}, { _meta: null }, { _meta: { status: null } }, { _meta: { status: [] } }])(
    "can't read %j",
    (data) => {
      expect(read(data)).toMatchObject({ kind: "failed", reason: "schema" });
    },
  );
});
