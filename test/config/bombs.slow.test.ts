import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { parseWebConfig } from "../../src/config/web/parse.ts";
import { ConfigError } from "../../src/config/yaml/config-error.ts";
import { Reloader } from "../../src/daemon/reloader.ts";
import { recordLog } from "../support/log-recorder.ts";

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

describe("a hostile configuration", () => {
  // None of them should take a second; one that exceeds the timeout hangs.
  it.each(BOMBS)("with $bomb is a mistake like any other", { timeout: 10_000 }, ({ text }) => {
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
      /^file\.yaml:1:1: \(file\): Cannot read a file of \d\.\d MiB: expected at most 4 MiB$/,
    );
  });
});

describe("a file with very many mistakes", () => {
  const few = 1_000;
  const many = 10_000;

  it.each([
    { mistakes: "unknown keys", text: (count: number) => lines(count, (index) => `key${index}: 1`) },
    {
      mistakes: "chains that are unknown",
      text: (count: number) =>
        indexerWithUrl("http://127.0.0.1:9/").replace(
          "[base]",
          `[${lines(count, (index) => `x${index},`).replaceAll("\n", " ")}]`,
        ),
    },
    {
      mistakes: "indexers without a URL",
      text: (count: number) =>
        `version: 1\nchains: { base: { id: 1 } }\nprotocols:\n  p:\n${lines(count / 4, (index) => `    - { variant: v${index}, chains: [base] }`)}`,
    },
  ])("takes CPU time in proportion to them: $mistakes", ({ text }) => {
    cpuMsOf(() => parseChains(text(few)));

    const factor = cpuMsOf(() => parseChains(text(many))) / cpuMsOf(() => parseChains(text(few)));

    // Quadratic time would make it 100.
    expect(factor).toBeLessThan((3 * many) / few);
  });
});

describe("the search for what 3,000 mistyped names mean", () => {
  it("does not multiply the CPU time that the file takes", () => {
    const listing = (name: string): string =>
      `version: 1\nchains:\n${lines(3_000, (index) => `  chain-number-${index}: { id: ${index + 1} }`)}\n` +
      `protocols:\n  p:\n    - variant: v\n      url: "http://127.0.0.1:9/{chain}"\n      chains:\n` +
      lines(3_000, (index) => `        - ${name}-${index}`);
    // One mistake, so that the time of a file without a near miss can be measured in the same way.
    const named = (): Config => parseChains(`${listing("chain-number")}\n        - x`);
    const mistyped = (): Config => parseChains(listing("chian-numbre"));
    cpuMsOf(named);

    expect(cpuMsOf(mistyped) / cpuMsOf(named)).toBeLessThan(4);
  });
});

describe("a reload of any text", () => {
  const good = indexerWithUrl("http://127.0.0.1:9/");

  it("applies all of it or nothing", async () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc
        .tuple(fc.nat(good.length), fc.nat(30), fc.string({ maxLength: 20 }))
        .map(([from, length, text]) => good.slice(0, from) + text + good.slice(from + length)),
      fc.constant(good),
    );

    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const applied: Config[] = [];
        const world = { nowMs: () => 0, logger: recordLog().logger, loadConfig: () => parseChains(text) };
        const reloader = new Reloader({
          world,
          listen: { host: "127.0.0.1", port: 0 },
          apply: (config) => {
            applied.push(config);
            return Promise.resolve();
          },
        });

        const { kind } = await reloader.reload();

        const whole = errorOf(() => parseChains(text)) === null ? [parseChains(text)] : [];
        expect(applied).toEqual(whole);
        expect([kind === "reloaded", reloader.state.successful]).toEqual([
          whole.length === 1,
          whole.length === 1,
        ]);
      }),
      { numRuns: 50 },
    );
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

/** CPU time of this process, which does not depend on the load of the machine. */
function cpuMsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  const error = errorOf(run);
  const { user, system } = process.cpuUsage(before);
  expect(error).toBeInstanceOf(ConfigError);
  return (user + system) / 1_000;
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
