import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { endpointsOf } from "../../src/core/model/fleet.ts";
import { startFleet } from "../support/fleet.ts";
import { serve } from "../support/listener.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const IN_PATH = "0123456789abcdef0123456789abcdef";
const IN_QUERY = "q9w8e7r6t5z4u3i2o1p0";
const IN_HEADER = "h1g2f3d4s5a6p7o8i9u0";

describe("synclag init", () => {
  it("writes protocols, variants and chains for usable endpoints, and comments for the others", async () => {
    await using folder = await temporaryFolder();
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [
        { kind: "graph-node", key: "a", path: "/subgraphs/name/acme/airdrops-base", chains: ["base"] },
        {
          kind: "graph-node",
          key: "b",
          path: "/subgraphs/name/acme/airdrops-ethereum",
          chains: ["ethereum"],
        },
        { kind: "graph-node", key: "c", path: "/subgraphs/name/acme/lockup-base", chains: ["base"] },
        { kind: "envio", chains: ["base", "ethereum"] },
        { kind: "ponder", path: "/graphql", chains: ["base"] },
        { kind: "rpc", chains: ["base"] },
        { kind: "squid", chains: ["base"] },
        { kind: "graph-status", chains: ["base"] },
      ],
    });
    const urlOf = (key: string) => fleet.endpoint(key).url;
    const root = new URL(urlOf("ponder")).origin;
    const rest = ["rpc", "squid", "graph-status"].map(urlOf);
    const output = join(folder.path, "chains.yaml");

    const { exitCode, out, err } = await runCommand(
      [
        "init",
        urlOf("a"),
        urlOf("b"),
        urlOf("c"),
        urlOf("envio"),
        root,
        ...rest,
        "http://127.0.0.1:9/",
        "-o",
        output,
      ],
      { world: { nowMs: () => NOW_MS } },
    );

    expect(exitCode).toBe(0);
    expect(err).toMatch(/^Asking 9 endpoints: at most \d+ requests$/);
    expect(out).toContain(`Next: synclag config check ${output}, then synclag run --config ${output}`);
    const yaml = readFileSync(output, "utf8");
    expect(yaml.replaceAll(/127\.0\.0\.1:\d{1,5}/g, "server.example")).toBe(`\
# yaml-language-server: $schema=./chains.schema.json
version: 1
chains:
  base:
    id: 8453
    rpc:
      - http://server.example/
  ethereum:
    id: 1
protocols:
  airdrops:
    - variant: subgraph
      dialect: graph
      chains:
        base:
          url: http://server.example/subgraphs/name/acme/airdrops-base
        ethereum:
          url: http://server.example/subgraphs/name/acme/airdrops-ethereum
    - variant: envio
      dialect: envio
      url: http://server.example/d57a134/v1/graphql
      chains:
        - ethereum
        - base
    - variant: ponder
      dialect: ponder
      url: http://server.example/graphql
      chains:
        - base
  lockup:
    - variant: subgraph
      dialect: graph
      url: http://server.example/subgraphs/name/acme/lockup-base
      chains:
        - base
# Not in this file:
#  http://server.example/squid/graphql: the reply has no chain id: run again with --chain-id
#  http://server.example/graphql: the index-node API of a graph-node: use it as status: beside a graph indexer, or with dialect graph-status and the ids of its deployments
#  http://server.example/: the host refuses the connection (connect)
`);
    expect(endpointsOf(parsed(yaml, {}).fleet)).toHaveLength(6);
  });

  it("replaces keys by variables in the file and the output", async () => {
    await using folder = await temporaryFolder();
    await using server = await serve((_, response) =>
      response.end('{"data":{"_meta":{"block":{"number":7}}}}'),
    );
    const output = join(folder.path, "chains.yaml");
    const url = `${server.url.replace("//", "//me:pa55word@")}/${IN_PATH}/subgraph?key=${IN_QUERY}&network=base`;
    const args = ["--header", `X-Api-Key: ${IN_HEADER}`, "--header", `X-Own: \${OWN}`, "--chain-id", "8453"];
    const env = { OWN: "typed-as-a-variable" };

    const { exitCode, out } = await runCommand(["init", url, ...args, "-o", output], { env });

    const yaml = readFileSync(output, "utf8");
    expect(exitCode).toBe(0);
    for (const key of [IN_PATH, IN_QUERY, IN_HEADER, "pa55word"]) {
      expect(yaml + out).not.toContain(key);
    }
    const names = "OWN, X_API_KEY, ENDPOINT_PASSWORD, ENDPOINT_KEY, ENDPOINT_KEY_2";
    expect(out).toContain(`Set ${names} in the environment`);
    const variables = {
      ...env,
      X_API_KEY: IN_HEADER,
      ENDPOINT_PASSWORD: "pa55word",
      ENDPOINT_KEY: IN_PATH,
      ENDPOINT_KEY_2: IN_QUERY,
    };
    expect(endpointsOf(parsed(yaml, variables).fleet)).toMatchObject([
      { url, headers: { "X-Api-Key": IN_HEADER, "X-Own": "typed-as-a-variable" } },
    ]);
    expect(parsed(yaml, {}).warnings).toEqual([
      expect.stringContaining("my-protocol/subgraph/production is skipped"),
    ]);
  });

  it("writes a file to fill in without URLs, and never overwrites a file", async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, "chains.yaml");

    const first = await runCommand(["init", "-o", output]);
    const yaml = readFileSync(output, "utf8");
    writeFileSync(output, "mine");
    const second = await runCommand(["init", "http://127.0.0.1:9/", "-o", output]);

    expect([first.exitCode, second.exitCode]).toEqual([0, 2]);
    expect(parsed(yaml, {}).fleet.indexers).toHaveLength(1);
    expect(second.err).toBe(
      `Cannot write ${output}: it exists, and is never overwritten; name another with -o`,
    );
    expect(readFileSync(output, "utf8")).toBe("mine");
  });

  it("writes nothing and gives the reason if no endpoint is usable: a rejected key first", async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, "chains.yaml");
    await using gateway = await serve((request, response) => {
      request.on("data", (body: Buffer) => {
        const isGraph = body.includes("_meta {");
        response.statusCode = isGraph ? 200 : 400;
        response.end(isGraph ? '{"errors":[{"message":"auth error: missing authorization header"}]}' : "{}");
      });
    });
    const keyed = `${gateway.url}/api/subgraphs/id/x`;

    const { exitCode, out, err } = await runCommand(["init", "http://127.0.0.1:9/", keyed, "-o", output]);

    expect(exitCode).toBe(1);
    expect(out.split("\n")).toEqual([
      "  http://127.0.0.1:9/: the host refuses the connection (connect)",
      `  ${keyed}: auth error: missing authorization header (unauthorized)`,
    ]);
    expect(err).toContain("none of these endpoints answered as an indexer whose chain is known");
    expect(existsSync(output)).toBe(false);
  });
});

function parsed(text: string, env: Readonly<Record<string, string>>) {
  return parseConfig(text, { file: "chains.yaml", env, readFile: () => "" });
}
