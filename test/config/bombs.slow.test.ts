import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { ConfigError } from "../../src/config/problems.ts";
import { parseWebConfig } from "../../src/config/web.ts";

/** Files that are easy to write, and large, deep or slow to parse. */
const BOMBS: readonly { readonly bomb: string; readonly text: () => string }[] = [
  { bomb: "aliases that multiply", text: () => billionLaughs() },
  { bomb: "an alias of itself", text: () => "version: 1\nchains: &a { base: *a }\nprotocols: {}\n" },
  { bomb: "25,000 aliases", text: () => `version: 1\nx: &a [1]\nchains: [${"*a, ".repeat(25_000)}]\n` },
  { bomb: "merge keys", text: () => `version: 1\nx: &a { b: 1 }\n${"<<: *a\n".repeat(1_000)}` },
  {
    bomb: "lists 5,000 deep",
    text: () => `version: 1\nchains: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`,
  },
  {
    bomb: "maps 5,000 deep",
    text: () => `version: 1\nchains: ${"{a: ".repeat(5_000)}1${"}".repeat(5_000)}\n`,
  },
  { bomb: "brackets that never close", text: () => `version: 1\nchains: ${"[{".repeat(5_000)}` },
  {
    bomb: "blocks 1,000 deep",
    text: () => Array.from({ length: 1_000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
  },
  { bomb: "a key of a megabyte", text: () => `${"k".repeat(1_000_000)}: 1\n` },
  { bomb: "a value of a megabyte", text: () => `version: 1\nlisten: ${"1".repeat(1_000_000)}\n` },
  {
    bomb: "2,000 unknown keys",
    text: () => Array.from({ length: 2_000 }, (_, index) => `key${index}: 1`).join("\n"),
  },
  { bomb: "10,000 documents", text: () => "---\n".repeat(10_000) },
  {
    bomb: "5,000 anchors",
    text: () =>
      `version: 1\nchains: [${Array.from({ length: 5_000 }, (_, index) => `&a${index} 1`).join(", ")}]`,
  },
  {
    bomb: "a long duration",
    text: () => `version: 1\npoll: { timeout: "${"9".repeat(100_000)}s" }\n`,
  },
  {
    bomb: "a long schedule",
    text: () => `version: 1\npoll: { rpc_schedule: "${"*/5,".repeat(20_000)} * * * * *" }\n`,
  },
  { bomb: "a template of braces", text: () => indexerWithUrl(`http://127.0.0.1/${"{".repeat(50_000)}`) },
  { bomb: "control characters", text: () => "version: 1\u0000\u0007\u001b[2J\n" },
  { bomb: "a number of 10,000 digits", text: () => `version: 1${"0".repeat(10_000)}\n` },
];

// None of them takes a second on a quiet machine; one that takes quadratic time exceeds the timeout of all tests.
describe("a hostile configuration", () => {
  it.each(BOMBS)("with $bomb is a mistake like any other", ({ text }) => {
    for (const parse of [parseChains, parseWeb]) {
      const error = errorOf(() => parse(text()));

      expect(error).toBeInstanceOf(ConfigError);
      expect(error?.message.slice(0, 200)).toMatch(/^file\.yaml:[1-9]\d*:[1-9]\d*: .+: ./);
      expect(error?.message.length).toBeLessThan(1_000_000);
    }
  });

  it("is refused unread if it is larger than 4 MiB", () => {
    const chains = lines(150_000, (index) => `  chain-${index}: { id: ${index} }`);

    const error = errorOf(() => parseChains(`version: 1\nchains:\n${chains}\nprotocols: {}\n`));

    expect(error?.message).toMatch(
      /^file\.yaml:1:1: \(file\): found a file of \d\.\d MiB, expected at most 4 MiB$/,
    );
  });

  it("lists the first 100 mistakes and counts the others", () => {
    const files = [
      lines(10_000, (index) => `key${index}: 1`),
      indexerWithUrl("http://127.0.0.1:9/").replace(
        "[base]",
        `[${lines(10_000, (index) => `x${index},`).replaceAll("\n", " ")}]`,
      ),
      `version: 1\nchains: { base: { id: 1 } }\nprotocols:\n  p:\n${lines(10_000, (index) => `    - { variant: v${index}, chains: [base] }`)}`,
      mistypedNames(3_000),
    ];

    const messages = files.map((text) => errorOf(() => parseChains(text))?.message.split("\n") ?? []);

    expect(messages.map((told) => told.length)).toEqual([101, 101, 101, 101]);
    expect(messages.map((told) => told.at(-1))).toEqual([
      "… and 9,903 more",
      "… and 9,900 more",
      "… and 9,900 more",
      "… and 2,900 more",
    ]);
  });
});

function parseChains(text: string): Config {
  return parseConfig(text, { file: "file.yaml", env: { A: "aaaa" }, readFile: () => "" });
}

function parseWeb(text: string): unknown {
  return parseWebConfig(text, { file: "file.yaml", readFile: () => "" });
}

/** The `ConfigError` that it threw, or null. Other errors pass through. */
function errorOf(run: () => unknown): ConfigError | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof ConfigError) {
      return error;
    }
    throw error;
  }
}

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

/** Nine levels of ten aliases: a billion values in half a kilobyte. */
function billionLaughs(): string {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const aliases = Array.from({ length: 10 }, () => `*l${level}`).join(", ");
    return `l${level + 1}: &l${level + 1} [${aliases}]`;
  });
  return ["version: 1", "l0: &l0 lol", ...levels].join("\n");
}

function indexerWithUrl(url: string): string {
  return `
version: 1
chains: { base: { id: 8453 } }
protocols:
  airdrops: [{ variant: multichain, url: "${url}", chains: [base] }]
`;
}

/** Names of chains with letters swapped, each of which is compared with all the others. */
function mistypedNames(count: number): string {
  return `version: 1
chains:
${lines(count, (index) => `  chain-number-${index}: { id: ${index + 1} }`)}
protocols:
  p:
    - variant: v
      url: "http://127.0.0.1:9/{chain}"
      chains:
${lines(count, (index) => `        - chian-numbre-${index}`)}
`;
}
