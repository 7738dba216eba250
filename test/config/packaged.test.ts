import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { configJsonSchema } from "../../src/config/schema.ts";
import { endpointsOf } from "../../src/core/model/fleet.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const CHAINS_YAML = readFileSync("chains.yaml", "utf8");

/** Both indexers of this chain are at one host, and no public RPC node of it is known. */
const ONE_PROVIDER = expect.stringMatching(
  /^no second provider confirms the height of tangle \(indexer.hyperindex.xyz\);/,
);

describe("chains.yaml", () => {
  it("watches every chain with two protocols, and exceeds no budget", () => {
    const { fleet, warnings } = load({ THEGRAPH_API_KEY: KEY });
    const targets = fleet.indexers.flatMap(({ endpoints }) => endpoints.flatMap((one) => one.targets));

    expect(warnings).toEqual([ONE_PROVIDER]);
    expect(fleet.chains).toHaveLength(30);
    expect(targets).toHaveLength(2 * (21 + 26 + 23));
    expect(new Set(targets.map(({ chain }) => chain))).toEqual(new Set(fleet.chains.map(({ slug }) => slug)));
    expect(
      fleet.indexers.map(({ protocol, variant, tier, endpoints }) =>
        [protocol, variant, tier, endpoints.length, endpoints[0]?.schedule].join(" "),
      ),
    ).toEqual([
      "airdrops multichain production 1 */15 * * * * *",
      "airdrops subgraph production 26 0 */30 * * * *",
      "airdrops subgraph testing 23 0 * * * * *",
      "lockup multichain production 1 */15 * * * * *",
      "lockup subgraph production 26 0 */30 * * * *",
      "lockup subgraph testing 23 0 * * * * *",
    ]);
  });

  it("sends the key to The Graph's gateway and to no other host", () => {
    const endpoints = endpointsOf(load({ THEGRAPH_API_KEY: KEY }).fleet);

    const withKey = endpoints.filter((endpoint) => JSON.stringify(endpoint).includes(KEY));

    expect(withKey).toHaveLength(2 * 23);
    expect(new Set(withKey.map(({ host }) => host))).toEqual(new Set(["gateway.thegraph.com"]));
  });

  it("works without a key: indexers that need it are skipped with a warning", () => {
    const { fleet, warnings, secrets } = load({});

    expect(fleet.indexers).toHaveLength(4);
    expect(warnings).toEqual([
      "airdrops/subgraph/production is skipped: THEGRAPH_API_KEY is not set",
      "lockup/subgraph/production is skipped: THEGRAPH_API_KEY is not set",
      ONE_PROVIDER,
    ]);
    expect(secrets).toEqual([]);
  });

  it("has an example of parity that is valid once it is uncommented, with and without the key", () => {
    const withExample = CHAINS_YAML.replace(/^# parity:[\s\S]*$/m, (example) => example.replace(/^# /gm, ""));

    for (const env of [{ THEGRAPH_API_KEY: KEY }, {}]) {
      const { parity } = load(env, withExample).fleet;

      expect(parity).toMatchObject([
        { name: "campaigns", protocol: "airdrops", variants: ["multichain", "subgraph"] },
        { name: "streams", protocol: "lockup", variants: ["multichain", "subgraph"] },
      ]);
      // Both variants serve Chiliz, and one of them serves Tangle.
      expect(parity[0]?.chains).toContain("chiliz");
      expect(parity[0]?.chains).not.toContain("tangle");
    }
  });

  it("of version 0.1.0 is still valid", () => {
    const released = readFileSync("test/fixtures/released/chains-0.1.0.yaml", "utf8");

    const { fleet, warnings } = load({ THEGRAPH_API_KEY: KEY }, released);

    expect(warnings).toEqual([ONE_PROVIDER]);
    expect(endpointsOf(fleet)).toHaveLength(129);
    // The file of 0.1.0 spelled out what is now known from the ids.
    expect(released).toContain("{ id: 11155111, name: Sepolia, block_time: 12s, testnet: true");
    expect(load({}).fleet.chains).toEqual(fleet.chains);
  });
});

describe("chains.schema.json", () => {
  it("is what `synclag config schema` prints", () => {
    expect(JSON.parse(readFileSync("chains.schema.json", "utf8"))).toEqual(configJsonSchema());
  });

  it("describes every key", () => {
    const undescribed = (schema: unknown, path: string): readonly string[] =>
      Object.entries(typeof schema === "object" ? (schema ?? {}) : {}).flatMap(([key, inner]) =>
        key === "properties"
          ? Object.entries(inner as Record<string, object>).flatMap(([name, property]) => [
              ...("description" in property ? [] : [`${path}.${name}`]),
              ...undescribed(property, `${path}.${name}`),
            ])
          : undescribed(inner, path),
      );

    expect(undescribed(configJsonSchema(), "")).toEqual([]);
  });

  it("accepts chains.yaml and the documentation's example as the user writes them", () => {
    const schema = z.fromJSONSchema(configJsonSchema());
    const example = readFileSync("test/fixtures/config/valid/documented.yaml", "utf8");

    expect(schema.safeParse(parseYaml(CHAINS_YAML)).error).toBeUndefined();
    expect(schema.safeParse(parseYaml(example)).error).toBeUndefined();
  });
});

function load(env: Readonly<Record<string, string>>, text = CHAINS_YAML): Config {
  return parseConfig(text, { file: "chains.yaml", env, readFile: () => "" });
}
