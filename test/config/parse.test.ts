import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { ConfigError } from "../../src/config/yaml/config-error.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const EXAMPLE = readFileSync(new URL("../fixtures/config/contract.yaml", import.meta.url), "utf8");

describe("parseConfig()", () => {
  it("resolves the endpoints of the documentation's example", () => {
    const { fleet } = parse(EXAMPLE, { THEGRAPH_API_KEY: KEY });

    expect(fleet.indexers).toEqual([
      {
        protocol: "airdrops",
        variant: "multichain",
        tier: "production",
        endpoints: [
          {
            key: "airdrops/multichain/production/all",
            kind: "indexer",
            protocol: "airdrops",
            variant: "multichain",
            tier: "production",
            name: "all",
            url: "https://multichain.example/v1/graphql",
            host: "multichain.example",
            headers: {},
            dialect: "envio",
            schedule: "*/15 * * * * *",
            pollIntervalMs: 15_000,
            budget: null,
            targets: [multichainTarget("base", 8453), multichainTarget("sepolia", 11_155_111)],
            chain: null,
          },
        ],
      },
      {
        protocol: "airdrops",
        variant: "subgraph",
        tier: "production",
        endpoints: [
          {
            ...subgraphEndpoint("base"),
            url: "https://gateway.thegraph.com/api/subgraphs/id/4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
            host: "gateway.thegraph.com",
            headers: { Authorization: `Bearer ${KEY}` },
            budget: "gateway",
            targets: [
              {
                ...subgraphTarget("base", 8453),
                explorer:
                  "https://thegraph.com/explorer/subgraphs/4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
              },
            ],
          },
          {
            ...subgraphEndpoint("form"),
            url: "https://form.example/subgraphs/airdrops-form-478",
            host: "form.example",
            headers: {},
            budget: null,
            targets: [{ ...subgraphTarget("form", 478), explorer: null }],
          },
        ],
      },
    ]);
  });

  it("resolves everything else of the documentation's example", () => {
    const config = parse(EXAMPLE, { THEGRAPH_API_KEY: KEY });

    const thresholds = {
      laggingMs: 600_000,
      criticalMs: 1_800_000,
      stalledMs: 600_000,
      staleMs: 300_000,
    };
    expect(config).toMatchObject({
      file: "chains.yaml",
      listen: { host: "127.0.0.1", port: 9855 },
      poll: { concurrency: 16, perHost: 6, timeoutMs: 10_000, retries: 1, maxResponseBytes: 1_048_576 },
      fleet: {
        chains: [
          { slug: "base", id: 8453, name: "Base", blockTimeMs: 2_000, testnet: false, thresholds },
          { slug: "form", id: 478, name: "Form Network", blockTimeMs: null, testnet: false, thresholds },
          {
            slug: "sepolia",
            id: 11_155_111,
            name: "Sepolia",
            blockTimeMs: 12_000,
            testnet: true,
            thresholds: { ...thresholds, laggingMs: 1_800_000 },
          },
        ],
        rpcEndpoints: [
          {
            key: "rpc/sepolia/rpc.example/7bf68c34766f",
            kind: "rpc",
            protocol: "",
            variant: "rpc",
            tier: "",
            name: "sepolia",
            url: "https://rpc.example/sepolia",
            host: "rpc.example",
            headers: {},
            dialect: "rpc",
            schedule: "*/30 * * * * *",
            pollIntervalMs: 30_000,
            budget: null,
            targets: [],
            chain: "sepolia",
          },
        ],
        budgets: [
          { name: "studio", limit: 3_000, per: "day", scope: "endpoint" },
          { name: "gateway", limit: 100_000, per: "month", scope: "shared" },
        ],
        skipped: [],
        parity: [],
      },
      maintenance: [
        {
          kind: "once",
          match: { protocol: "airdrops", variant: "subgraph", chain: "base" },
          fromMs: Date.UTC(2026, 11, 1, 10),
          toMs: Date.UTC(2026, 11, 1, 12),
        },
        { kind: "recurring", match: { chain: "sepolia" }, schedule: "0 0 3 * * 0", durationMs: 7_200_000 },
      ],
      warnings: [
        "form: a single source, so nothing confirms its height, and lag is measured against the clock; add an RPC node (rpc) or another variant",
      ],
      secrets: [`Bearer ${KEY}`, KEY],
      variables: [{ text: KEY, shown: "$THEGRAPH_API_KEY" }],
    });
  });

  it("needs nothing but version, chains and protocols", () => {
    const config = parse(
      "{ version: 1, chains: { base: { id: 8453 } }, protocols: { a: [{ variant: v, url: 'http://h:1/q', chains: [base] }] } }",
    );

    expect(config).toMatchObject({
      listen: { host: "127.0.0.1", port: 9855 },
      poll: { concurrency: 16, perHost: 6, timeoutMs: 10_000, retries: 1, maxResponseBytes: 1_048_576 },
      fleet: {
        chains: [{ name: "base", blockTimeMs: null, testnet: false, thresholds: { staleMs: 300_000 } }],
        indexers: [
          {
            tier: "production",
            endpoints: [
              { host: "h:1", dialect: "auto", schedule: "*/30 * * * * *", budget: null, chain: "base" },
            ],
          },
        ],
      },
      maintenance: [],
    });
  });

  it("skips an optional indexer while its variable is not set, and says so", () => {
    const { fleet, warnings } = parse(EXAMPLE);

    expect(fleet.indexers.map(({ variant }) => variant)).toEqual(["multichain"]);
    expect(fleet.skipped).toEqual([
      { protocol: "airdrops", variant: "subgraph", tier: "production", why: "THEGRAPH_API_KEY is not set" },
    ]);
    expect(warnings).toContain("airdrops/subgraph/production is skipped: THEGRAPH_API_KEY is not set");
  });

  it("reports mistakes in an optional indexer that is skipped", () => {
    const text = EXAMPLE.replace('url: "https://form', 'url: "form');

    expect(() => parse(text)).toThrow(
      "chains.yaml:43:22: protocols.airdrops[1].chains.form.url: Cannot use this URL: expected http:// or https://, found no scheme",
    );
  });

  it("sends headers and draws budgets at the indexer's own origin only", () => {
    const endpoints = endpointsOf(`
      url: "https://{region}.example/{chain}"
      headers: { X-Key: "\${file:/run/secrets/key}" }
      budget: studio
      chains:
        base: { region: eu }
        sepolia: { region: eu, url: "https://eu.example/v2" }
        form: { region: eu, url: "https://us.example/v2" }
        mode: { url: "https://us.example/v2", headers: { X-Other: "1234" }, budget: other }
        zksync: { region: eu, headers: {}, budget: null }`);

    expect(endpoints.map(({ name, headers, budget }) => ({ name, headers, budget }))).toEqual([
      { name: "base", headers: { "X-Key": "secret of the file" }, budget: "studio" },
      { name: "sepolia", headers: { "X-Key": "secret of the file" }, budget: "studio" },
      { name: "form", headers: {}, budget: null },
      { name: "mode", headers: { "X-Other": "1234" }, budget: "other" },
      { name: "zksync", headers: {}, budget: null },
    ]);
  });

  it("gives a chain with a URL, schedule, headers or budget of its own an endpoint of its own", () => {
    const endpoints = endpointsOf(`
      url: "https://{protocol}.example/graphql"
      chains:
        base: {}
        sepolia:
        form: { url: "https://form.example/graphql" }
        mode: { schedule: "0 * * * * *" }
        zksync: { explorer: "https://explorer.example/{chain}" }`);

    expect(endpoints.map(({ name, url, schedule }) => ({ name, url, schedule }))).toEqual([
      { name: "all", url: "https://lockup.example/graphql", schedule: "*/30 * * * * *" },
      { name: "form", url: "https://form.example/graphql", schedule: "*/30 * * * * *" },
      { name: "mode", url: "https://lockup.example/graphql", schedule: "0 * * * * *" },
    ]);
    expect(endpoints[0]?.targets.map(({ chain, explorer }) => ({ chain, explorer }))).toEqual([
      { chain: "base", explorer: null },
      { chain: "sepolia", explorer: null },
      { chain: "zksync", explorer: "https://explorer.example/zksync" },
    ]);
  });

  it("uses numbers as they are written", () => {
    const endpoints = endpointsOf(`
      url: "https://h.example/{version}/{id}"
      chains: { base: { version: 1.10, id: 0x0F } }`);

    expect(endpoints[0]?.url).toBe("https://h.example/1.10/0x0F");
  });

  it("takes the fastest cadence that leaves a tenth of each endpoint's own budget", () => {
    const [endpoint] = endpointsOf(`
      url: https://h.example
      budget: studio
      schedule: auto
      chains: [base]`);

    expect(endpoint).toMatchObject({ schedule: "0 * * * * *", pollIntervalMs: 60_000 });
  });

  it("shares a budget that each URL has for itself among all endpoints of one URL", () => {
    const [all, apart] = endpointsOf(`
      url: https://h.example
      budget: studio
      schedule: auto
      chains: { base: {}, sepolia: { schedule: "0 * * * * *" } }`);

    // 3,000 a day, a tenth of it spare: beside 1,440 there is room for one request every 2 minutes.
    expect(apart).toMatchObject({ schedule: "0 * * * * *" });
    expect(all).toMatchObject({ schedule: "0 */2 * * * *", pollIntervalMs: 120_000 });
  });

  it("shares a shared budget among all endpoints that draw on it", () => {
    const [first, second] = endpointsOf(`
      url: "https://h.example/{chain}"
      budget: other
      schedule: auto
      chains:
        base: { schedule: "0 */10 * * * *" }
        sepolia: {}`);

    // 1,000 a day, a tenth of it spare: beside 144 there is room for one request every 2 minutes.
    expect(first).toMatchObject({ schedule: "0 */10 * * * *", pollIntervalMs: 600_000 });
    expect(second).toMatchObject({ schedule: "0 */2 * * * *", pollIntervalMs: 120_000 });
  });

  it("collects every secret, longest first", () => {
    const text = `
      url: "https://user:pass%21word@h.example/\${PATH_PART}/${KEY}/{chain}?api_key=query-key&v=2"
      headers: { Authorization: "Bearer literal-token", X-File: "\${file:/run/secrets/key}" }
      chains: [base]`;

    const { secrets } = parse(withIndexer(text), { PATH_PART: "path-secret" });

    expect(secrets).toEqual([
      KEY,
      "Bearer literal-token",
      "secret of the file",
      "literal-token",
      "path-secret",
      "pass%21word",
      "query-key",
      "pass!word",
      "user",
    ]);
  });

  it("turns a URL's user and password into a header", () => {
    const [endpoint] = endpointsOf(`
      url: "https://us%40er:pass@h.example/graphql"
      chains: [base]`);

    expect(endpoint?.headers).toEqual({
      Authorization: `Basic ${Buffer.from("us@er:pass").toString("base64")}`,
    });
  });

  it("keeps a secret out of the message about it", () => {
    const text = withIndexer(`
      url: "\${RPC_URL}"
      headers: { Authorization: "Bearer \${TOKEN}", "\${TOKEN}": x }
      chains: [base]`);

    const message = messageOf(text, { RPC_URL: "gateway.example/hidden-key", TOKEN: "very secret token" });

    expect(message).toBe(
      [
        `chains.yaml:10:12: protocols.lockup[0].url: Cannot use this URL: expected http:// or https://, found no scheme`,
        `chains.yaml:11:52: protocols.lockup[0].headers[secret]: Cannot use this header name: expected letters, digits and dashes`,
      ].join("\n"),
    );
  });
});

function parse(text: string, env: Readonly<Record<string, string>> = {}): Config {
  return parseConfig(text, { file: "chains.yaml", env, readFile: () => "secret of the file\n" });
}

function messageOf(text: string, env: Readonly<Record<string, string>>): string {
  try {
    parse(text, env);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message;
    }
    throw error;
  }
  return "valid";
}

function withIndexer(indexer: string): string {
  return `version: 1
budgets:
  studio: { limit: 3000, per: day, scope: endpoint }
  other: { limit: 1000, per: day, scope: shared }
chains: { base: { id: 1 }, sepolia: { id: 2 }, form: { id: 3 }, mode: { id: 4 }, zksync: { id: 5 } }
protocols:
  lockup:
    - variant: subgraph
      tier: production${indexer}
`;
}

function endpointsOf(indexer: string) {
  return parse(withIndexer(indexer)).fleet.indexers.flatMap(({ endpoints }) => endpoints);
}

function multichainTarget(chain: string, chainId: number) {
  return {
    key: `airdrops/multichain/production/${chain}`,
    protocol: "airdrops",
    variant: "multichain",
    tier: "production",
    chain,
    chainId,
    explorer: "https://multichain.example/app",
    playground: "https://multichain.example/graphiql",
    pollIntervalMs: 15_000,
  };
}

function subgraphEndpoint(name: string) {
  return {
    key: `airdrops/subgraph/production/${name}`,
    kind: "indexer",
    protocol: "airdrops",
    variant: "subgraph",
    tier: "production",
    name,
    dialect: "graph",
    schedule: "*/30 * * * * *",
    pollIntervalMs: 30_000,
    chain: name,
  };
}

function subgraphTarget(chain: string, chainId: number) {
  return {
    key: `airdrops/subgraph/production/${chain}`,
    protocol: "airdrops",
    variant: "subgraph",
    tier: "production",
    chain,
    chainId,
    playground: null,
    pollIntervalMs: 30_000,
  };
}
