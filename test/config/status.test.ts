import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { endpointsOf } from "../../src/core/model/fleet.ts";

const KEY = "5e1f0000c0ffee00decade0000facade";

/** The status APIs by the endpoint's name. */
function statusesOf(indexer: string): {
  readonly [name: string]: unknown;
  readonly secrets: readonly string[];
} {
  const text = `
version: 1
chains: { base: { id: 8453 }, form: { id: 478 } }
protocols:
  airdrops:
    - variant: subgraph
      dialect: graph
${indexer}`;
  const { fleet, secrets } = parseConfig(text, {
    file: "chains.yaml",
    env: { NODE_KEY: KEY },
    readFile: () => "",
  });
  const named = endpointsOf(fleet).map(({ name, status }) => [name, status] as const);
  return { ...Object.fromEntries(named), secrets };
}

describe("parseConfig()", () => {
  it("gives each chain its index-node API, with placeholders filled and its key a secret", () => {
    const { base, form, secrets } = statusesOf(`
      url: "https://node.example/subgraphs/id/{deployment}"
      status: { url: "https://user:p4ssword@node.example:8030/\${NODE_KEY}/{chain}", deployment: "{deployment}" }
      chains: { base: { deployment: Qm1 }, form: { deployment: Qm2 } }`);

    expect(base).toEqual({
      url: `https://user:p4ssword@node.example:8030/${KEY}/base`,
      host: "node.example:8030",
      headers: { Authorization: `Basic ${Buffer.from("user:p4ssword").toString("base64")}` },
      deployment: "Qm1",
    });
    expect(form).toMatchObject({ deployment: "Qm2" });
    expect(secrets).toEqual(expect.arrayContaining([KEY, "p4ssword"]));
  });

  it("does not ask it about a chain whose own URL leads to another node", () => {
    const { base, form } = statusesOf(`
      url: "https://node.example/subgraphs/{chain}"
      headers: { Authorization: "Bearer \${NODE_KEY}" }
      status: { url: "http://node.example:8030/graphql", deployment: "{deployment}" }
      chains: { base: { deployment: Qm1 }, form: { url: "https://elsewhere.example/" } }`);

    expect(base).toMatchObject({ headers: {}, deployment: "Qm1" });
    expect(form).toBeUndefined();
  });

  it("takes a literal deployment where the indexer has one chain", () => {
    const { all } = statusesOf(`
      url: https://node.example/subgraphs/name/airdrops
      status: { url: "http://node.example:8030/graphql", deployment: Qm1 }
      chains: [base]`);

    expect(all).toMatchObject({ deployment: "Qm1" });
  });
});
