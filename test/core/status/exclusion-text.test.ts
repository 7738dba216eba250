import { expect, it } from "vitest";
import { divergedText } from "../../../src/core/status/exclusion-text.ts";

function textBy(...by: readonly string[]): string {
  return divergedText({
    source: "a/subgraph/x",
    kind: "ahead",
    by,
    block: 900,
    blocks: 500,
    offMs: null,
    proof: null,
  });
}

it("a variant that several protocols have is named once, in the singular", () => {
  expect(textBy("a/multichain/x", "b/multichain/x")).toBe(
    "ahead of the chain: reports block 900, which is 500 blocks above what multichain shows",
  );
  expect(textBy("a/multichain/x", "b/mirror/x")).toBe(
    "ahead of the chain: reports block 900, which is 500 blocks above what multichain and mirror agree on",
  );
});

it("a source without block times has no times to compare, so the text names its height", () => {
  const opposition = {
    source: "a/subgraph/x",
    kind: "times",
    by: ["a/mirror/x"],
    block: 900,
    blocks: -500,
  } as const;

  expect(divergedText({ ...opposition, offMs: null, proof: null })).toBe(
    "answers for another chain: its time of block 900 contradicts what mirror shows",
  );
});
