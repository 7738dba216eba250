import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { configErrorOf } from "../support/config-error.ts";
import { readWithoutNote } from "../support/golden.ts";

const HEX_40 = "d0f1c5b2a3948576655443322110ffeeddccbbaa";
const PATHS = readWithoutNote("test/fixtures/config/keys-in-paths.txt").trimEnd().split("\n");

describe("a key in a URL's path", () => {
  it("is refused in every usual form; a name, number, version or public id is not a key", () => {
    const found = PATHS.map((line) => {
      const path = line.replace(/^\w+ /, "");
      const text = fileWith({ url: `https://h.example${path}` });
      const message = messageOf(text);
      expect(message).not.toContain(HEX_40);
      const isRefused = message.includes(`looks like a key; write it as \${VAR}`);
      return `${isRefused || parse(text, {}).secrets.length > 0 ? "refused" : "fine"} ${path}`;
    });
    const value = {
      url: "https://h.example/{id}?network={chain}",
      chain: "{ id: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe }",
    };

    expect(found).toEqual(PATHS);
    expect(configOf(value).secrets).toEqual([]);
  });

  it("is secret if it comes from a variable", () => {
    const env = { NODE: `https://h.example/v2/${HEX_40}`, KEY: "swordfish" };

    const { secrets } = configOf({ url: `\${NODE}`, rpc: `["https://h.example/\${KEY}"]` }, env);

    expect(secrets).toEqual(expect.arrayContaining([HEX_40, "swordfish"]));
  });
});

describe("a variable in a host name", () => {
  it("is shown as the variable wherever hosts are shown", () => {
    const env = { KEY: "SwordFish", NODE: "https://h.example/" };
    const urls = {
      url: `"http://user:\${KEY}@\${KEY}.{chain}.example:8030/\${KEY}"`,
      rpc: `["http://\${KEY}/", "http://a-\${file:/run/secrets/key}:80", "\${NODE}"]`,
    };

    const { fleet, warnings } = configOf(urls, env);

    const endpoints = [...fleet.indexers.flatMap((indexer) => indexer.endpoints), ...fleet.rpcEndpoints];
    expect(endpoints.map(({ host }) => host)).toEqual([
      `\${KEY}.base.example:8030`,
      `\${KEY}`,
      `a-\${file:/run/secrets/key}:80`,
      "h.example",
    ]);
    const shown = JSON.stringify([endpoints.map(({ url: _, headers: __, ...rest }) => rest), warnings]);
    expect(shown).not.toMatch(/swordfish|from-a-file/i);
  });
});

describe("secrets of a header", () => {
  it("are the whole value, and the keys in it", () => {
    const headers = {
      "Bearer swordfish": "swordfish",
      "theme=dark; session=swordfish": "swordfish",
      "Token token='swordfish', id=7": "swordfish",
      [`ApiKey ${HEX_40} test`]: HEX_40,
      "session=c3dvcmRmaXNo==": "c3dvcmRmaXNo",
      [`Basic ${Buffer.from("user:swordfish").toString("base64")}`]: "swordfish",
    };

    const missed = Object.entries(headers).filter(
      ([value, key]) => !configOf({ headers: `{ X-Header: "${value}" }` }).secrets.includes(key),
    );

    expect(missed).toEqual([]);
  });
});

it("shows a secret as the variable or file that holds it", () => {
  const rpc = `"https://h.example/\${RPC_KEY}", "https://user:\${file:/run/secrets/key}@h.example/"`;

  const { variables } = configOf({ rpc: `[${rpc}]` }, { RPC_KEY: "swordfish" });

  expect(variables).toEqual([
    { text: "from-a-file", shown: "$(cat '/run/secrets/key')" },
    { text: "swordfish", shown: "$RPC_KEY" },
  ]);
});

const MISTAKES = readWithoutNote("test/fixtures/config/keys-by-mistake.txt")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [, part = "", text = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
    return (key: string): string => fileWith({ [part]: text.replaceAll("⏎", "\n").replaceAll("KEY", key) });
  });

describe("the message about a mistake", () => {
  it("does not repeat the value under headers, url or rpc", () => {
    // A value that looks like a key, and one that does not.
    const keys = ["k5f0c1d9a7b3e4f6a8c2d", "swordfish"];

    const messages = MISTAKES.flatMap((mistake) =>
      keys.map((key) => ({ key, written: mistake("KEY"), message: messageOf(mistake(key)) })),
    );

    expect(messages).toHaveLength(2 * 60);
    expect(messages.filter(({ key, message }) => message.includes(key))).toEqual([]);
    expect(messages.filter(({ message }) => !/^chains\.yaml:\d+:\d+: .*: ./.test(message))).toEqual([]);
  });
});

interface File {
  readonly rpc: string;
  readonly url: string;
  readonly headers: string;
  /** The overrides of the indexer's one chain. */
  readonly chain: string;
}

function fileWith(change: Partial<File>): string {
  const { rpc, url, headers, chain } = {
    rpc: "[]",
    url: "https://h.example/",
    headers: "{}",
    chain: "{}",
    ...change,
  };
  return `version: 1
chains:
  base: { id: 8453, rpc: ${rpc} }
protocols:
  lockup:
    - variant: subgraph
      chains: { base: ${chain} }
      url: ${url}
      headers: ${headers}
`;
}

function configOf(change: Partial<File>, env: Readonly<Record<string, string>> = {}): Config {
  return parse(fileWith(change), env);
}

function messageOf(text: string): string {
  return configErrorOf(() => parse(text, {}));
}

function parse(text: string, env: Readonly<Record<string, string>>): Config {
  return parseConfig(text, { file: "chains.yaml", env, readFile: () => "from-a-file\n" });
}
