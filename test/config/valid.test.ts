import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { expectGolden } from "../support/golden.ts";

const FOLDER = "test/fixtures/config/valid";
const ENV = {
  THEGRAPH_API_KEY: "0123456789abcdef0123456789abcdef",
  NODE_KEY: "5e1f0000c0ffee00decade0000facade",
  RPC_KEY: "swordfish",
  PATH_PART: "path-secret",
  HOOK_KEY: "hook-secret",
  PING_KEY: "ping-secret",
};

describe("parseConfig()", () => {
  it.each(readdirSync(FOLDER).filter((file) => /^[^.]+[.]yaml$/.test(file)))(
    "fills templates, defaults and schedules in, and collects the secrets: %s",
    (file) => {
      const config = parse(readFileSync(`${FOLDER}/${file}`, "utf8"), ENV);

      const text = stringify(config, { aliasDuplicateObjects: false });
      expectGolden(`${FOLDER}/${file.replace(".yaml", ".expected.yaml")}`, text);
    },
  );

  it("skips an optional indexer with a warning while its variable is not set", () => {
    const { fleet, warnings } = parse(readFileSync(`${FOLDER}/documented.yaml`, "utf8"), {});

    expect(fleet.indexers.map(({ variant }) => variant)).toEqual(["multichain"]);
    expect(fleet.skipped).toEqual([
      { protocol: "airdrops", variant: "subgraph", tier: "production", why: "THEGRAPH_API_KEY is not set" },
    ]);
    expect(warnings).toContain("airdrops/subgraph/production is skipped: THEGRAPH_API_KEY is not set");
  });

  it("warns in one line about chains with a single source, unless an RPC node or another variant confirms the height", () => {
    const { warnings } = parse(
      `
version: 1
chains:
  base: { id: 8453 }
  mode: { id: 34443, rpc: ["https://node.test/"] }
  form: { id: 478 }
  sei: { id: 1329 }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://indexer.test/", chains: [base, mode, form] }
    - { variant: subgraph, url: "https://other.test/{chain}", chains: [form] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://lockup.test/", chains: [sei] }
`,
      {},
    );

    expect(warnings).toEqual([
      "base (indexer.test), sei (lockup.test): all sources have one provider, so nothing confirms a height; add an RPC node (rpc), or a variant of another provider",
    ]);
  });

  it("reads durations from a millisecond to 24 days", () => {
    const accepted = { "250ms": 250, "0.25s": 250, "10s": 10_000, "5m": 300_000, "1h": 3_600_000, "1ms": 1 };
    const refused = ["10", "10 s", "s", "1d", "-1s", "0s", "0.1ms", "1h30m", "597h", "1e3s", ".5s"];

    const timeoutMs = (text: string): unknown =>
      settingOf(`poll: { timeout: ${text} }`, ({ poll }) => poll.timeoutMs);

    expect(Object.keys(accepted).map(timeoutMs)).toEqual(Object.values(accepted));
    expect(refused.map(timeoutMs)).toEqual(refused.map(() => "refused"));
  });

  it("reads sizes from a byte to a gibibyte", () => {
    const accepted = { "1B": 1, "512KiB": 524_288, "1.5MiB": 1_572_864, "1GiB": 1_073_741_824 };
    const refused = ["1", "1MB", "1 MiB", "0KiB", "2GiB", "-1B"];

    const bytes = (text: string): unknown =>
      settingOf(`poll: { max_response: ${text} }`, ({ poll }) => poll.maxResponseBytes);

    expect(Object.keys(accepted).map(bytes)).toEqual(Object.values(accepted));
    expect(refused.map(bytes)).toEqual(refused.map(() => "refused"));
  });

  it("reads the address to listen on as a host and a port", () => {
    const accepted = {
      "127.0.0.1:9855": { host: "127.0.0.1", port: 9855 },
      "localhost:0": { host: "localhost", port: 0 },
      "[::1]:9855": { host: "::1", port: 9855 },
      "[::]:65535": { host: "::", port: 65_535 },
    };
    const refused = [
      "9855",
      ":9855",
      "localhost",
      "::1:9855",
      "localhost:65536",
      "localhost:-1",
      "http://h:1",
    ];

    const address = (text: string): unknown => settingOf(`listen: "${text}"`, ({ listen }) => listen);

    expect(Object.keys(accepted).map(address)).toEqual(Object.values(accepted));
    expect(refused.map(address)).toEqual(refused.map(() => "refused"));
  });
});

/** What a setting reads as, or that it is refused. */
function settingOf(line: string, pick: (config: Config) => unknown): unknown {
  try {
    return pick(
      parse(
        `version: 1\n${line}\nchains: { base: { id: 1 } }\nprotocols: { a: [{ variant: v, url: "http://h", chains: [base] }] }\n`,
        {},
      ),
    );
  } catch {
    return "refused";
  }
}

function parse(text: string, env: Readonly<Record<string, string>>): Config {
  return parseConfig(text, {
    file: "chains.yaml",
    env,
    readFile: (path) =>
      path.endsWith(".yaml") ? readFileSync(join(FOLDER, path), "utf8") : "secret-of-the-file\n",
    listFiles: (folder) => readdirSync(join(FOLDER, folder)),
  });
}
