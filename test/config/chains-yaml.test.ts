import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { configJsonSchema } from "../../src/config/schema/config-file.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const CHAINS_YAML = readFileSync(new URL("../../chains.yaml", import.meta.url), "utf8");

/** Chain ids by slug. */
const CHAIN_IDS: Readonly<Record<string, number>> = {
  abstract: 2_741,
  arbitrum: 42_161,
  "arbitrum-sepolia": 421_614,
  avalanche: 43_114,
  base: 8_453,
  "base-sepolia": 84_532,
  berachain: 80_094,
  blast: 81_457,
  bsc: 56,
  chiliz: 88_888,
  ethereum: 1,
  form: 478,
  gnosis: 100,
  iotex: 4_689,
  lightlink: 1_890,
  linea: 59_144,
  mode: 34_443,
  morph: 2_818,
  optimism: 10,
  "optimism-sepolia": 11_155_420,
  polygon: 137,
  scroll: 534_352,
  sei: 1_329,
  sepolia: 11_155_111,
  sophon: 50_104,
  superseed: 5_330,
  tangle: 5_845,
  unichain: 130,
  xdc: 50,
  zksync: 324,
};

/** What the multi-chain indexers serve. */
const MULTICHAIN = [
  "arbitrum",
  "arbitrum-sepolia",
  "avalanche",
  "base",
  "base-sepolia",
  "bsc",
  "chiliz",
  "ethereum",
  "gnosis",
  "linea",
  "mode",
  "morph",
  "optimism",
  "optimism-sepolia",
  "polygon",
  "scroll",
  "sepolia",
  "sophon",
  "superseed",
  "tangle",
  "zksync",
];

/** Ids of the production subgraphs, as their network shows them. */
const SUBGRAPH_IDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  airdrops: {
    abstract: "DRrf6mYEhRt9QieKvTjDHnSWcBm3GW96hpedMKVxLABx",
    arbitrum: "HkHDg6NVVVeobhpcU4pTPMktyC25zd6xAQBGpYrWDgRr",
    "arbitrum-sepolia": "3S7v3VkDq8XMBd8EFVhKur2Vk44xScaW8a4BRjoPuYWk",
    avalanche: "CpbN5Ps25UzqfdoqYdrjoSK4Him6nwDvdLK6a2sGS1PA",
    base: "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
    "base-sepolia": "4R2hm27YJ7CVEJ97BbBJz2r4KTKYc8sTqqzrD8UzEfJt",
    berachain: "CnYsdmzuY3Mebwywvqv1WrXw9UZuPMTrxoGgR2UdThJE",
    blast: "657bogqYaDSSeqsoJcJ1kRqGnc3jC15UmcVLzsYxyxKK",
    bsc: "FXQT42kQPvpMJgsF5Bs6CqpxVvPP1LBqEhWThCCLMeGL",
    chiliz: "6LK1aqrhzZCp6c88MEBDAR1VDLpZQiXpBKkceJ5Lu4LU",
    ethereum: "DFD73EcSue44R7mpHvXeyvcgaT8tR1iKakZFjBsiFpjs",
    gnosis: "kQEY5PYbjx4SMKyMUwqJHRLDzKH1aUqGsf1cnibU7Kn",
    iotex: "G39uCzr1FDY7pBFe8DwShAxhMeC6dbZetutVg6wjtks3",
    linea: "6koYFSd8FQizdQWLTdRpL1yTmAbpMgN1vZN5W6ajZiTN",
    mode: "HZMkVX5c2qf7BqbidwpcQMsHGWTDdEKwVjnwenzo9s6m",
    optimism: "CHJtCNDzPqngpa1YJoaVrjuufZL6k6VkEkG9ZFUMQzF7",
    "optimism-sepolia": "3kp1eR2T1XpvvLkSZ7Wtt45DbDaiykTes478RZ7zwTz",
    polygon: "FRbBKiDyM5YpFAqHLXRfQWwQdMGzFL82hqoPXPpXzAHE",
    scroll: "Ev4xS8VxuoUcpgqz5A2BkTgQxQeskm4Fg41XzVJ2DX9",
    sei: "HCxLCRqd5MorHXxmXFUBBcA71zTGXnn97Xk2uaBmStsy",
    sepolia: "8PLGDyXEsPgRTAnozL7MAjmTUFY4TBzs8i4F9Pq3wwSh",
    unichain: "4rQMJ85hKNhcaDyirGipGvcqS4auGU3QCFRBnpiexyNy",
    zksync: "64iDUwNVWKukw67nqTXif5taEfLug4Qf1c2suAv5hrqN",
  },
  lockup: {
    abstract: "2QjTdDFY233faXksUruMERMiDoQDdtGG5hBLC27aT1Pw",
    arbitrum: "yvDXXHSyv6rGPSzfpbBcbQmMFrECac3Q2zADkYsMxam",
    "arbitrum-sepolia": "ApEFvaPGARHedGmFp6TRQu7DoDHQKwt1LPWi1ka6DFHT",
    avalanche: "FTDmonvFEm1VGkzECcnDY2CPHcW5dSmHRurSjEEfTkCX",
    base: "778GfecD9tsyB4xNnz4wfuAyfHU6rqGr79VCPZKu3t2F",
    "base-sepolia": "DdiYENuyh5ztSybRJnBnCZuUgESkFasjGFHZUbURpKHz",
    berachain: "C2r13APcUemQtVdPFm7p7T3aJkU2rH2EvdZzrQ53zi14",
    blast: "8MBBc6ET4izgJRrybgWzPjokhZKSjk43BNY1q3xcb8Es",
    bsc: "A8Vc9hi7j45u7P8Uw5dg4uqYJgPo4x1rB4oZtTVaiccK",
    chiliz: "4KsXUFvsKFHH7Q8k3BPgEv2NhCJJGwG78gCPAUpncYb",
    ethereum: "AvDAMYYHGaEwn9F9585uqq6MM5CfvRtYcb7KjK7LKPCt",
    gnosis: "DtKniy1RvB19q1r2g1WLN4reMNKDacEnuAjh284rW2iK",
    iotex: "2P3sxwmcWBjMUv1C79Jh4h6VopBaBZeTocYWDUQqwWFV",
    linea: "GvpecytqVzLzuwuQB3enozXoaZRFoVx8Kr7qrfMiE9bs",
    mode: "oSBvUM371as1pJh8HQ72NMRMb3foV3wuheULfkNf5vy",
    optimism: "NZHzd2JNFKhHP5EWUiDxa5TaxGCFbSD4g6YnYr8JGi6",
    "optimism-sepolia": "2LFYyhMVMUMYA2q7XMMnBvCs6v6awWxBeMuMk3tMtmiT",
    polygon: "8fgeQMEQ8sskVeWE5nvtsVL2VpezDrAkx2d1VeiHiheu",
    scroll: "GycpYx8c9eRqxvEAfqnpNd1ZfXeuLzjRhnG7vvYaqEE1",
    sei: "AJU5rBfbuApuJpeZeaz6NYuYnnhAhEy4gFkqsSdAT6xb",
    sepolia: "5yDtFSxyRuqyjvGJyyuQhMEW3Uah7Ddy2KFSKVhy9VMa",
    unichain: "3MUG4H3gZcp9fpGLiJMTMeUFcQQ6QdT317P4wYKyns9M",
    zksync: "7SuEYGYwZ835LjVGB85ZE8z5zmqdKgmRh8kAEeJefWQN",
  },
};

/** Chains whose production subgraph is not on The Graph's network. */
const OWN_URLS: Readonly<Record<string, string>> = {
  form: "https://formapi.0xgraph.xyz/api/public/5961fb30-8fdc-45ad-9a35-555dd5e0dd56/subgraphs/sablier-PROTOCOL-form/2.3_1.0.0/gn",
  lightlink: "https://graph.phoenix.lightlink.io/query/subgraphs/name/lightlink/sablier-PROTOCOL-lightlink",
  xdc: "https://graphql.xinfin.network/subgraphs/name/xdc/sablier-PROTOCOL-xdc",
};

describe.each([
  { protocol: "airdrops", deployment: "508d217" },
  { protocol: "lockup", deployment: "53b7e25" },
])("chains.yaml, $protocol", ({ protocol, deployment }) => {
  const { indexers } = load({ THEGRAPH_API_KEY: KEY }).fleet;
  const ids = SUBGRAPH_IDS[protocol] ?? {};

  function endpointsOf(variant: string, tier: string) {
    const found = indexers.filter(
      (it) => it.protocol === protocol && it.variant === variant && it.tier === tier,
    );
    return found.flatMap(({ endpoints }) => endpoints);
  }

  it("watches 21 chains at the multi-chain indexer with one request", () => {
    const [endpoint, ...others] = endpointsOf("multichain", "production");

    expect(others).toEqual([]);
    expect(endpoint).toMatchObject({
      name: "all",
      url: `https://indexer.hyperindex.xyz/${deployment}/v1/graphql`,
      dialect: "envio",
      schedule: "*/15 * * * * *",
    });
    expect(endpoint?.targets.map(({ chain }) => chain)).toEqual(MULTICHAIN);
    expect(new URL(endpoint?.targets[0]?.playground ?? "").searchParams.get("endpoint")).toBe(endpoint?.url);
  });

  it("watches 26 production subgraphs, each under its own id or URL", () => {
    const urls = endpointsOf("subgraph", "production").map(({ name, url }) => [name, url]);

    const gateway = Object.entries(ids).map(([slug, id]) => [
      slug,
      `https://gateway.thegraph.com/api/subgraphs/id/${id}`,
    ]);
    const own = Object.entries(OWN_URLS).map(([slug, url]) => [slug, url.replace("PROTOCOL", protocol)]);
    expect(urls).toHaveLength(26);
    expect(Object.fromEntries(urls)).toEqual(Object.fromEntries([...gateway, ...own]));
  });

  it("sends the key to the gateway, every 30 minutes", () => {
    const atGateway = endpointsOf("subgraph", "production").filter(({ name }) => !(name in OWN_URLS));

    for (const { name, headers, budget, schedule, targets } of atGateway) {
      expect(headers).toEqual({ Authorization: `Bearer ${KEY}` });
      expect({ budget, schedule }).toEqual({ budget: "gateway", schedule: "0 */30 * * * *" });
      expect(targets[0]?.explorer).toBe(`https://thegraph.com/explorer/subgraphs/${ids[name]}`);
    }
  });

  it("sends the key to no other host", () => {
    const elsewhere = endpointsOf("subgraph", "production").filter(({ name }) => name in OWN_URLS);

    for (const { headers, budget, schedule, targets } of elsewhere) {
      expect({ headers, budget, schedule }).toEqual({
        headers: {},
        budget: null,
        schedule: "*/30 * * * * *",
      });
      expect(targets[0]?.explorer).toBeNull();
    }
  });

  it("watches 23 testing subgraphs, each below its 3,000 queries a day", () => {
    const endpoints = endpointsOf("subgraph", "testing");

    expect(endpoints.map(({ name }) => name)).toEqual(Object.keys(ids));
    for (const { name, url, schedule, budget } of endpoints) {
      expect({ url, schedule, budget }).toEqual({
        url: `https://api.studio.thegraph.com/query/112500/sablier-${protocol}-${name}/version/latest`,
        schedule: "0 * * * * *",
        budget: "studio",
      });
    }
  });
});

describe("chains.yaml", () => {
  it("holds thirty chains, each with an indexer", () => {
    const { chains, indexers, rpcEndpoints } = load({ THEGRAPH_API_KEY: KEY }).fleet;
    const targets = indexers.flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.targets));

    expect(Object.fromEntries(chains.map(({ slug, id }) => [slug, id]))).toEqual(CHAIN_IDS);
    expect(new Set(targets.map(({ chain }) => chain))).toEqual(new Set(Object.keys(CHAIN_IDS)));
    expect(targets).toHaveLength(2 * (21 + 26 + 23));
    expect(rpcEndpoints.map(({ name }) => name).toSorted()).toEqual(
      Object.keys(CHAIN_IDS)
        .filter((slug) => slug !== "tangle")
        .toSorted(),
    );
    expect(chains.filter(({ blockTimeMs }) => blockTimeMs === null).map(({ slug }) => slug)).toEqual([
      "lightlink",
    ]);
  });

  it("works without a key: production is skipped with a warning", () => {
    const { fleet, warnings, secrets } = load({});

    expect(fleet.indexers.map(({ protocol, variant, tier }) => `${protocol}/${variant}/${tier}`)).toEqual([
      "airdrops/multichain/production",
      "airdrops/subgraph/testing",
      "lockup/multichain/production",
      "lockup/subgraph/testing",
    ]);
    expect(warnings).toEqual([
      "airdrops/subgraph/production is skipped: THEGRAPH_API_KEY is not set",
      "lockup/subgraph/production is skipped: THEGRAPH_API_KEY is not set",
    ]);
    // The UUID in the URL of chain form.
    expect(secrets).toEqual(["5961fb30-8fdc-45ad-9a35-555dd5e0dd56"]);
  });

  it("reports a key that the gateway would refuse, but not the key itself", () => {
    expect(() => load({ THEGRAPH_API_KEY: "not-a-key-at-all" })).toThrow(
      /^chains\.yaml:\d+:\d+: protocols\.airdrops\[1\]\.headers\.Authorization: Cannot use this key with The Graph's gateway: expected 32 hexadecimal characters, found 16, 12 of them not hexadecimal\n.*$/,
    );
  });

  it("keeps its lists in alphabetical order", () => {
    for (const { endpoints } of load({ THEGRAPH_API_KEY: KEY }).fleet.indexers) {
      const chains = endpoints.flatMap(({ targets }) => targets.map(({ chain }) => chain));

      expect(chains).toEqual(chains.toSorted());
    }
  });
});

describe("the example of parity in chains.yaml", () => {
  /** The file without the # of the example. */
  const withExample = CHAINS_YAML.replace(/^# parity:[\s\S]*$/m, (example) => example.replace(/^# /gm, ""));

  it.each([
    { env: { THEGRAPH_API_KEY: KEY } },
    // The optional indexers are skipped, and their selections with them.
    { env: {} },
  ])("is valid once its # are removed, with $env", ({ env }) => {
    const { fleet } = parseConfig(withExample, { file: "chains.yaml", env, readFile: () => "" });

    expect(fleet.parity).toMatchObject([
      { name: "campaigns", protocol: "airdrops", variants: ["multichain", "subgraph"] },
      { name: "streams", protocol: "lockup", variants: ["multichain", "subgraph"] },
    ]);
    // Chiliz: one of those that both variants serve.
    expect(fleet.parity[0]?.chains).toContain("chiliz");
    expect(fleet.parity[0]?.chains).not.toContain("tangle");
  });
});

describe("configJsonSchema()", () => {
  it("is committed as chains.schema.json", () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL("../../chains.schema.json", import.meta.url), "utf8"),
    );

    // Stale? `synclag config schema > chains.schema.json`
    expect(committed).toEqual(configJsonSchema());
  });

  it("accepts chains.yaml and the documentation's example as the user writes them", () => {
    const schema = z.fromJSONSchema(configJsonSchema());
    const example = readFileSync(new URL("../fixtures/config/contract.yaml", import.meta.url), "utf8");

    expect(schema.safeParse(parseYaml(CHAINS_YAML)).error).toBeUndefined();
    expect(schema.safeParse(parseYaml(example)).error).toBeUndefined();
  });

  it("refuses a duration without a unit, an unknown key and a dialect that does not exist", () => {
    const schema = z.fromJSONSchema(configJsonSchema());
    const file = { version: 1, chains: {}, protocols: { a: [{ variant: "v", chains: ["base"] }] } };

    for (const mistake of [
      { poll: { timeout: 10 } },
      { budget: {} },
      { protocols: { a: [{ variant: "v", chains: ["base"], dialect: "hasura" }] } },
    ]) {
      expect(schema.safeParse({ ...file, ...mistake }).success).toBe(false);
    }
  });
});

function load(env: Readonly<Record<string, string>>): Config {
  return parseConfig(CHAINS_YAML, { file: "chains.yaml", env, readFile: () => "" });
}
