import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse as parseYaml, stringify } from "yaml";
import { parseConfig } from "../../src/config/parse.ts";
import { configErrorOf } from "../support/config-error.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const CHAINS_YAML = readFileSync(new URL("../../chains.yaml", import.meta.url), "utf8");
/** Without its weekly schedule, whose intervals take long to compute. */
const EXAMPLE = readFileSync(
  new URL("../fixtures/config/valid/documented.yaml", import.meta.url),
  "utf8",
).replace("0 0 3 * * 0", "0 0 3 * * *");

const anyEdit = fc.record({
  line: fc.nat(CHAINS_YAML.split("\n").length - 1),
  from: fc.nat(60),
  length: fc.nat(20),
  text: fc.oneof(
    fc.string(),
    fc.constantFrom("{", "}", "[", "]", ":", "- ", "*studio", "&a ", '"', "'", "#", `\${X}`, "{id}"),
  ),
});

/** What a person or a broken program may write in place of a value. */
const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom("", "auto", "base", "all", "studio", "10s", "{id}", `\${X}`, "http://[", "__proto__"),
);

describe("parseConfig()", () => {
  it("survives any edit of chains.yaml", () => {
    fc.assert(
      fc.property(anyEdit, ({ line, from, length, text }) => {
        const lines = CHAINS_YAML.split("\n");
        const before = lines[line] ?? "";
        lines[line] = before.slice(0, from) + text + before.slice(from + length);

        expect(strangeLinesOf(lines.join("\n"))).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it("survives any value in any place", () => {
    const file: unknown = parseYaml(EXAMPLE);
    const anyPath = fc.constantFrom(...pathsOf(file));

    fc.assert(
      fc.property(anyPath, anyValue, (path, value) => {
        expect(strangeLinesOf(stringify(replaced(file, path, value)))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it("refuses unknown keys at any depth", () => {
    const file: unknown = parseYaml(EXAMPLE);
    const maps = pathsOf(file).filter(
      (path) => isMap(valueAt(file, path)) && !FREE_KEYS.test(path.join(".")),
    );

    for (const path of maps) {
      expect(messageOf(stringify(replaced(file, [...path, "qqqq"], 1)))).toContain('unknown key "qqqq"');
    }
  });
});

/** Maps whose keys the user chooses. */
const FREE_KEYS = /^(budgets|chains|protocols|protocols\.\w+\.\d+\.(chains|headers))$/;

type Path = readonly (string | number)[];

/** The form of each line of an error; the last line may count the mistakes that are not printed. */
const PROBLEM_LINE = /^(chains\.yaml:[1-9]\d*:[1-9]\d*: .+: .|… and [\d,]+ more$)/;

/** Lines of the error without a position in the text, or with the secret. Any other exception passes through. */
function strangeLinesOf(text: string): readonly string[] {
  const lines = messageOf(text).split("\n");
  return lines.filter((line) => line !== "" && (!PROBLEM_LINE.test(line) || line.includes(KEY)));
}

function messageOf(text: string): string {
  const options = { file: "chains.yaml", env: { THEGRAPH_API_KEY: KEY }, readFile: () => KEY };
  return configErrorOf(() => parseConfig(text, options));
}

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(isMap(value) ? value : {});
  return [path, ...steps.flatMap((step) => pathsOf(valueAt(value, [step]), [...path, step]))];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => new Map(Object.entries(inner ?? {})).get(String(step)), value);
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) {
    return by;
  }
  const inner = replaced(valueAt(value, [step]), rest, by);
  return Array.isArray(value)
    ? value
        .map((item: unknown, index) => (index === step ? inner : item))
        .filter((item) => item !== undefined)
    : { ...(isMap(value) ? value : {}), [step]: inner };
}

function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
