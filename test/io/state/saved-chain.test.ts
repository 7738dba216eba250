import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { readSavedChain } from "../../../src/io/state/saved-chain.ts";

function savedBy010(): { sources: { key: string }[] } {
  return JSON.parse(
    readFileSync(new URL("../../fixtures/state/0.1.0-chain.json", import.meta.url), "utf8"),
  ) as {
    sources: { key: string }[];
  };
}

describe("readSavedChain()", () => {
  it("keeps what 0.1.0 knew of each source, and drops its head", () => {
    const state = readSavedChain(savedBy010());

    expect(state.consensus).toEqual(NO_CONSENSUS);
    expect(state.sources.map(({ key, verdict, samples }) => [key, verdict?.status, samples.length])).toEqual([
      ["airdrops/multichain/production/base", "ok", 6],
      ["airdrops/subgraph/production/base", "lagging", 6],
    ]);
  });

  it("refuses one that is no state", () => {
    const [source] = savedBy010().sources;

    expect(() => readSavedChain({ reference: null, sources: [{ ...source, key: 7 }] })).toThrow("key");
    expect(() => readSavedChain({ sources: [] })).toThrow("consensus");
  });
});
