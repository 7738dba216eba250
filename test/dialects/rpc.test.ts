import { describe, expect, it } from "vitest";
import type { Reading } from "../../src/dialects/dialect.ts";
import { rpc } from "../../src/dialects/rpc.ts";
import { readFixture } from "./read-fixture.ts";

function read(result: unknown): Reading | undefined {
  return rpc.questions[0]?.read(result);
}

describe("rpc", () => {
  it("asks for the latest block without its transactions", () => {
    expect(rpc.questions.map(({ body }) => body)).toEqual([
      { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
    ]);
  });

  it("reads a block", () => {
    const { result } = JSON.parse(readFixture("rpc/block.json"));

    const hash = "0xf8ccbd3877eb98c958614f395dd351211afb9abba187bfc1fb4ac414b099c4a6";
    const head = { block: 23368072, timestampSec: 1757912857, hash, deployment: null, indexingErrors: null };
    expect(read(result)).toEqual({
      kind: "rows",
      rows: [{ chainId: null, content: { kind: "head", head } }],
    });
  });

  it("can't read a block of null", () => {
    const { result } = JSON.parse(readFixture("rpc/no-block.json"));

    expect(read(result)).toMatchObject({ kind: "failed", reason: "schema" });
  });

  it.each([
    { number: "0xffffffffffffffff", found: "18446744073709552000" },
    { number: "0x", found: '"0x"' },
    { number: null, found: "null" },
  ])("takes no number $number for a height", ({ number, found }) => {
    expect(read({ number })).toMatchObject({
      rows: [{ content: { kind: "failed", detail: `Cannot read result.number as a height: ${found}` } }],
    });
  });
});
