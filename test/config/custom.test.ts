import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";

const YAML = `
version: 1
chains: { base: { id: 8453 } }
protocols:
  airdrops:
    - variant: multichain
      dialect: custom
      custom: { query: "{ sync { block chain } }", rows: sync, height: block, chain_id: chain }
      url: https://indexer.example/graphql
      chains: [base]
`;

describe("parseConfig()", () => {
  it("hands the block of dialect custom to its endpoint", () => {
    const config = parseConfig(YAML, { file: "chains.yaml", env: {}, readFile: () => "" });

    expect(config.fleet.indexers[0]?.endpoints[0]).toMatchObject({
      dialect: "custom",
      custom: {
        query: "{ sync { block chain } }",
        rows: "sync",
        height: "block",
        time: null,
        chainId: "chain",
        hash: null,
        failed: null,
      },
    });
  });
});
