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
