import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { parseWebConfig } from "../../src/config/web.ts";
import { configErrorOf } from "../support/config-error.ts";
import { cpuMsOf } from "../support/cpu-of.ts";

/** Files that are easy to write, and large, deep or slow to parse. */
const BOMBS: Readonly<Record<string, () => string>> = {
  "aliases that multiply": billionLaughs,
  "an alias of itself": () => "version: 1\nchains: &a { base: *a }\nprotocols: {}\n",
  "5,000 aliases": () => `version: 1\nchains: [&a b${", *a".repeat(5_000)}]\n`,
  "lists 5,000 deep": () => `version: 1\nchains: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`,
  "brackets that never close": () => `version: 1\nchains: ${"[{".repeat(5_000)}`,
  "a key of a megabyte": () => `${"k".repeat(1_000_000)}: 1\n`,
  "a value of a megabyte": () => `version: 1\nlisten: ${"1".repeat(1_000_000)}\n`,
  "1,000 unknown keys": () => Array.from({ length: 1_000 }, (_, index) => `key${index}: 1`).join("\n"),
  "10,000 documents": () => "---\n".repeat(10_000),
  "a long schedule": () => `version: 1\npoll: { rpc_schedule: "${"*/5,".repeat(20_000)} * * * * *" }\n`,
  "a schedule of a huge range": () => `version: 1\npoll: { rpc_schedule: "0-99999999 * * * * *" }\n`,
  "a schedule of numbers that cannot be counted": () =>
    `version: 1\npoll: { rpc_schedule: "9007199254740992-9007199254740993 * * * * *" }\n`,
  "a maintenance window at a huge range": () =>
    `version: 1\nmaintenance: [{ match: {}, schedule: "0 0 0-99999999/1 * * *", for: 1h }]\n`,
  "a schedule of many ranges": () =>
    `version: 1\npoll: { rpc_schedule: "${"0-59,".repeat(200_000)}1 * * * * *" }\n`,
  "a template of braces": () =>
    `version: 1\nprotocols: { a: [{ variant: v, url: "http://h/${"{".repeat(50_000)}", chains: [b] }] }\n`,
  "control characters": () => "version: 1\u0000\u0007\u001b[2J\n",
};

// None of them takes a second on a quiet machine; one that takes quadratic time exceeds the timeout of all tests.
describe("a hostile configuration", () => {
  it.each(Object.entries(BOMBS))("with %s is reported as a mistake", (_, text) => {
    const options = { file: "file.yaml", env: {}, readFile: () => "" };

    for (const parse of [parseConfig, parseWebConfig]) {
      const message = configErrorOf(() => parse(text(), options));

      expect(message.slice(0, 200)).toMatch(/^file\.yaml:[1-9]\d*:[1-9]\d*: .+: ./);
      expect(message.length).toBeLessThan(1_000_000);
    }
  });
});

describe("the CPU time of a schedule", () => {
  it.each([
    "a schedule of a huge range",
    "a schedule of numbers that cannot be counted",
    "a maintenance window at a huge range",
  ])("is that of a usual schedule of the same length: %s", async (name) => {
    const hostile = BOMBS[name]?.() ?? "";
    const usual = `version: 1\npoll: { rpc_schedule: "*/15 * * * * *" }\n#`.padEnd(hostile.length, "#");
    const options = { file: "file.yaml", env: {}, readFile: () => "" };
    const costOf = (text: string) =>
      cpuMsOf(() => {
        for (let count = 0; count < 100; count += 1) {
          configErrorOf(() => parseConfig(text, options));
        }
      });

    // The first ones also compile the code.
    await costOf(usual);
    const ratio = (await costOf(hostile)) / (await costOf(usual));

    expect(ratio).toBeLessThan(5);
  });
});

/** Nine levels of ten aliases: a billion values in half a kilobyte. */
function billionLaughs(): string {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const aliases = Array.from({ length: 10 }, () => `*l${level}`).join(", ");
    return `l${level + 1}: &l${level + 1} [${aliases}]`;
  });
  return ["version: 1", "l0: &l0 lol", ...levels].join("\n");
}
