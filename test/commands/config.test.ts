import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { commandWorld } from "../support/command-world.ts";

const GOOD = `
version: 1
chains:
  base: { id: 8453, rpc: [https://base.example] }
  mode: { id: 34443 }
protocols:
  lockup:
    - variant: multichain
      url: https://indexer.example
      chains: [base, mode]
    - variant: subgraph
      url: "https://\${HOST}/{chain}"
      optional: true
      chains: [base, mode]
`;

describe("synclag config check", () => {
  it("summarizes a valid file in one line", async () => {
    const { exitCode, out, err } = await check(GOOD, { HOST: "h.example" });

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      "chains.yaml is valid: 2 chains, 1 protocol, 2 indexers, 4 endpoints, 4 targets, 0 skipped, 0 warnings",
    ]);
    expect(err).toEqual([]);
  });

  it("warns about what is skipped", async () => {
    const { exitCode, out, err } = await check(GOOD, {});

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      "chains.yaml is valid: 2 chains, 1 protocol, 1 indexer, 2 endpoints, 2 targets, 1 skipped, 2 warnings",
    ]);
    expect(err[0]).toBe("chains.yaml: warning: lockup/subgraph/production is skipped: HOST is not set");
  });

  it("warns about an endpoint that its provider has shut down", async () => {
    const hosted = GOOD.replace(
      "https://indexer.example",
      "https://api.thegraph.com/subgraphs/name/some/lockup",
    );

    const { exitCode, err } = await check(hosted, { HOST: "h.example" });

    expect(exitCode).toBe(0);
    expect(err).toEqual([
      "chains.yaml: warning: lockup/multichain/production/all: The Graph shut its hosted service down on 2024-06-12; " +
        "use the subgraph's URL on the gateway",
    ]);
  });

  it("accepts the chains.yaml of 0.1.0 without a warning", async () => {
    const { exitCode, out, err } = await check(
      readFileSync("test/fixtures/released/chains-0.1.0.yaml", "utf8"),
      {
        THEGRAPH_API_KEY: "0123456789abcdef0123456789abcdef",
      },
    );

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      "chains.yaml is valid: 30 chains, 2 protocols, 6 indexers, 129 endpoints, 140 targets, 0 skipped, 0 warnings",
    ]);
    expect(err).toEqual([]);
  });

  it("reports every problem and exits with 2", async () => {
    const { exitCode, out, err } = await check(GOOD.replace("[base, mode]", "[bas, mod]"), {});

    expect([exitCode, out]).toEqual([2, []]);
    expect(err.join("\n").split("\n")).toEqual([
      'chains.yaml:10:16: protocols.lockup[0].chains[0]: Cannot find chain "bas" in chains: did you mean "base"?',
      'chains.yaml:10:21: protocols.lockup[0].chains[1]: Cannot find chain "mod" in chains: did you mean "mode"?',
    ]);
  });

  it("reports every proxy variable that cannot be used, beside the problems of the file", async () => {
    const env = { HOST: "h.example", HTTPS_PROXY: "proxy:3128", http_proxy: "socks5://me:swordfish@proxy" };

    const [valid, invalid] = [await check(GOOD, env), await check("version: 2\n", env)];

    const expected = "Cannot use this URL: expected http:// or https://, found";
    const proxies = [
      `environment variable HTTPS_PROXY: ${expected} no scheme`,
      `environment variable http_proxy: ${expected} socks5:`,
    ];
    expect(valid).toMatchObject({ exitCode: 2, out: [], err: proxies });
    expect(invalid).toMatchObject({ exitCode: 2, out: [] });
    expect(invalid.err.join("\n").split("\n")).toEqual([
      ...proxies,
      expect.stringContaining("chains.yaml:1:1: chains: "),
      expect.stringContaining("chains.yaml:1:1: protocols: "),
      expect.stringContaining("chains.yaml:1:10: version: "),
    ]);
  });

  it("reports a file that does not exist and exits with 2", async () => {
    const { exitCode, err } = await check(null, {});

    expect(exitCode).toBe(2);
    expect(err).toEqual([expect.stringMatching(/^chains\.yaml:1:1: \(file\): Cannot read chains\.yaml: /)]);
  });
});

describe("a file with very many mistakes", () => {
  it.each([
    { argv: ["config", "check", "chains.yaml"], mistakes: 4_001, code: 2, rest: "… and 3,901 more" },
    { argv: ["plan", "--config", "chains.yaml"], mistakes: 1_001, code: 2, rest: "… and 901 more" },
    { argv: ["run", "--config", "chains.yaml"], mistakes: 1_001, code: 2, rest: "… and 901 more" },
    { argv: ["check", "--config", "chains.yaml"], mistakes: 1_001, code: 3, rest: "… and 901 more" },
  ])("gets the first 100 printed and the others counted by $argv", { timeout: 60_000 }, async (row) => {
    const { argv, mistakes, code, rest } = row;
    const names = Array.from({ length: mistakes }, (_, index) => `name-${index}`);

    const { exitCode, out, err } = await synclag(
      argv,
      GOOD.replace("[base, mode]", `[${names.join(", ")}]`),
      {},
    );

    expect([exitCode, out]).toEqual([code, []]);
    const lines = err.join("\n").split("\n");
    expect(lines).toHaveLength(101);
    expect(lines[99]).toMatch(/chains\[99\]: Cannot find chain "name-99" in chains$/);
    expect(lines[100]).toBe(rest);
  });
});

describe("synclag config schema", () => {
  it("prints a JSON Schema", async () => {
    const { world, printed } = commandWorld({});

    const exitCode = await runCli(["node", "synclag", "config", "schema"], world);

    expect(exitCode).toBe(0);
    expect(JSON.parse(printed.out.join("\n"))).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      required: ["version", "chains", "protocols"],
    });
  });
});

async function check(text: string | null, env: Readonly<Record<string, string>>) {
  return await synclag(["config", "check", "chains.yaml"], text, env);
}

async function synclag(argv: readonly string[], text: string | null, env: Readonly<Record<string, string>>) {
  const { world, printed } = commandWorld(env);
  const readFile = (path: string): string => {
    if (path !== "chains.yaml") {
      return world.readFile(path);
    }
    if (text === null) {
      throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    }
    return text;
  };
  return { exitCode: await runCli(["node", "synclag", ...argv], { ...world, readFile }), ...printed };
}
