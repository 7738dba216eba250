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

  it.each([
    ["poll: { timeout: VALUE }", { "250ms": 250, "0.25s": 250, "5m": 300_000, "1h": 3_600_000 }],
    ["poll: { max_response: VALUE }", { "1B": 1, "1.5MiB": 1_572_864, "1GiB": 1_073_741_824 }],
    ["listen: VALUE", { "localhost:0": "localhost 0", '"[::1]:9855"': "::1 9855" }],
  ])("reads quantities and addresses: %s", (line, accepted) => {
    const read = Object.keys(accepted).map((value) => settingsOf(line.replace("VALUE", value)));

    for (const [index, value] of Object.values(accepted).entries()) {
      expect(read[index]).toContainEqual(value);
    }
  });

  it.each([
    ["poll: { timeout: VALUE }", ["10", "10 s", "1d", "-1s", "0s", "0.1ms", "1h30m", "597h", "1e3s", ".5s"]],
    ["poll: { max_response: VALUE }", ["1", "1MB", "1 MiB", "0KiB", "2GiB", "-1B"]],
    ["listen: VALUE", ["9855", '":9855"', "localhost", "::1:9855", "localhost:65536", '"http://h:1"']],
  ])("refuses other quantities and addresses: %s", (line, refused) => {
    for (const value of refused) {
      expect(() => settingsOf(line.replace("VALUE", value))).toThrow(/, expected /);
    }
  });
});

/** Timeout, size and address of a file with this line. */
function settingsOf(line: string): readonly unknown[] {
  const indexers = `[{ variant: v, url: "http://h", chains: [base] }]`;
  const { poll, listen } = parse(
    `version: 1\n${line}\nchains: { base: { id: 1 } }\nprotocols: { a: ${indexers} }\n`,
    {},
  );
  return [poll.timeoutMs, poll.maxResponseBytes, `${listen.host} ${listen.port}`];
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
