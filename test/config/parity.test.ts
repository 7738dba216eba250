import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { endpointsOf, type Fleet } from "../../src/core/model/fleet.ts";

/** The fleet of a file with these lines under `parity`. */
function fleetWith(parity: string, values = ""): Fleet {
  const text = `
version: 1
chains: { base: { id: 8453 }, ethereum: { id: 1 }, mode: { id: 34443 } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/graphql", chains: [base, ethereum] }
    - variant: subgraph
      dialect: graph
      url: "https://gateway.example/{id}"
      chains: { base: { id: Qm1${values} }, mode: { id: Qm2 } }
    - { variant: subgraph, tier: testing, url: "https://studio.example/{chain}", chains: [ethereum] }
parity:
${parity}`;
  return parseConfig(text, { file: "chains.yaml", env: {}, readFile: () => "" }).fleet;
}

/** The selections of each endpoint that carries any. */
function carriedIn(fleet: Fleet): Readonly<Record<string, readonly string[]>> {
  const carrying = endpointsOf(fleet).filter(({ parity }) => parity !== undefined);
  return Object.fromEntries(
    carrying.map(({ key, parity = [] }) => [
      key,
      parity.flatMap(({ selections }) => selections.map(({ target, select }) => `${target}: ${select}`)),
    ]),
  );
}

const CAMPAIGNS = `
  - name: campaigns
    protocol: airdrops
    queries:
      subgraph: { select: 'campaigns(first: 1) { subgraphId }', value: campaigns.0.subgraphId }
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }`;

describe("parity in chains.yaml", () => {
  it("compares on every chain that two variants serve, every ten minutes, in the order of the indexers", () => {
    const { parity } = fleetWith(CAMPAIGNS);

    expect(parity).toEqual([
      {
        name: "campaigns",
        protocol: "airdrops",
        everyMs: 600_000,
        chains: ["base", "ethereum"],
        variants: ["multichain", "subgraph"],
      },
    ]);
  });

  it("lets every tier carry it, on the chains that are compared, with placeholders filled", () => {
    const fleet = fleetWith(CAMPAIGNS);

    expect(carriedIn(fleet)).toEqual({
      "airdrops/multichain/production/all": [
        'airdrops/multichain/production/base: Campaign(where: {chainId: {_eq: "8453"}}, limit: 1) { subgraphId }',
        'airdrops/multichain/production/ethereum: Campaign(where: {chainId: {_eq: "1"}}, limit: 1) { subgraphId }',
      ],
      "airdrops/subgraph/production/base": [
        "airdrops/subgraph/production/base: campaigns(first: 1) { subgraphId }",
      ],
      "airdrops/subgraph/testing/ethereum": [
        "airdrops/subgraph/testing/ethereum: campaigns(first: 1) { subgraphId }",
      ],
    });
    expect(fleet.indexers[0]?.endpoints[0]?.parity?.[0]).toMatchObject({
      probe: "campaigns",
      everyMs: 600_000,
      selections: [{ value: ["Campaign", "0", "subgraphId"] }, {}],
    });
  });

  it("compares on the chains that are named only", () => {
    const fleet = fleetWith(
      CAMPAIGNS.replace("    queries", "    chains: [base]\n    every: 1h\n    queries"),
    );

    expect(fleet.parity).toMatchObject([{ chains: ["base"], everyMs: 3_600_000 }]);
    expect(Object.keys(carriedIn(fleet))).toEqual([
      "airdrops/multichain/production/all",
      "airdrops/subgraph/production/base",
    ]);
  });

  it("lets a selection use a value of the chain that no URL uses", () => {
    const rows = `
  - name: rows
    protocol: airdrops
    chains: [base]
    queries:
      multichain: { select: 'Row(limit: 5) { id }', value: Row.0.id }
      subgraph: { select: 'rows(first: {first}) { id }', value: rows.0.id }`;

    const fleet = fleetWith(rows, ", first: 5");

    expect(carriedIn(fleet)["airdrops/subgraph/production/base"]).toEqual([
      "airdrops/subgraph/production/base: rows(first: 5) { id }",
    ]);
  });

  it("writes a selection of several lines in one, without its comments", () => {
    const fleet = fleetWith(`
  - name: rows
    protocol: airdrops
    chains: [base]
    queries:
      multichain:
        select: |
          Row(
            limit: 5
          ) { id }
        value: Row.0.id
      subgraph:
        select: |
          rows(first: 5) { # the newest
            id ... on Row { number }
          } # }
        value: rows.0.number`);

    expect(carriedIn(fleet)).toMatchObject({
      "airdrops/multichain/production/all": ["airdrops/multichain/production/base: Row( limit: 5 ) { id }"],
      "airdrops/subgraph/production/base": [
        "airdrops/subgraph/production/base: rows(first:5){id ...on Row{number}}",
      ],
    });
  });

  it("is nothing without the section", () => {
    const fleet = fleetWith("  []");

    expect(fleet.parity).toEqual([]);
    expect(carriedIn(fleet)).toEqual({});
  });
});
