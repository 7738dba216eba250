import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** What a reader of the code, of a page or of a document reads. Goldens have these words only if a text of `src` has them. */
const ROOTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ROADMAP.md", "SECURITY.md", "docs", "deploy"];
const ROOTS_OF_CODE = ["dashboards", "assets", "src"];

/** Data from other projects. */
const OTHERS = ["assets/well-known-chains.json"];

interface Rule {
  readonly phrase: string;
  readonly instead: string;
  readonly allowedPhrases: readonly string[];
  readonly allowedFiles: readonly string[];
}

describe("docs/ARCHITECTURE.md, words to avoid", () => {
  const rules = readRules();
  const files = [...ROOTS, ...ROOTS_OF_CODE].flatMap((root) => filesIn(root));

  it("has rules, each with a better word", () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.filter(({ instead }) => instead === "")).toEqual([]);
  });

  it("appear in no text and no name", () => {
    const found = files.flatMap((path) => {
      const text = proseOf(path);
      return rules.flatMap((rule) => uses(text, rule, path));
    });

    expect(found).toEqual([]);
  });

  it("have no exception that is not needed", () => {
    const texts = new Map(files.map((path) => [path, proseOf(path)]));
    const unused = rules.flatMap(({ phrase, allowedPhrases, allowedFiles }) => [
      ...allowedPhrases.filter((allowed) => ![...texts.values()].some((text) => text.includes(allowed))),
      ...allowedFiles.filter((path) => !patternOf(phrase).test(texts.get(path) ?? "")),
    ]);

    expect(unused).toEqual([]);
  });
});

function readRules(): readonly Rule[] {
  const [, table = ""] = readFileSync("docs/ARCHITECTURE.md", "utf8").split("### Words to avoid");
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => {
    const [, avoid = "", instead = "", except = ""] = row.split("|").map((cell) => cell.trim());
    const allowedPhrases = [...except.matchAll(/"([^"]+)"/g)].map(([, phrase = ""]) => phrase);
    const allowedFiles = [...except.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
    return [...avoid.matchAll(/`([^`]+)`/g)].map(([, phrase = ""]) => ({
      ...{ phrase, instead, allowedPhrases, allowedFiles },
    }));
  });
}

function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) {
    return /\.(?:ts|js|css|md|json|ya?ml|lua|tpl|txt|service)$/.test(path) && !OTHERS.includes(path)
      ? [path]
      : [];
  }
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
}

/** The text of a file in lower case, with the words of its names apart, without line breaks and the signs of comments. */
function proseOf(path: string): string {
  const [text = ""] = readFileSync(path, "utf8").split("### Words to avoid");
  return text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/\s*\n\s*(?:(?:\*|\/\/|#|>)\s)?\s*/g, " ")
    .toLowerCase();
}

function patternOf(phrase: string): RegExp {
  return new RegExp(`(?<![\\w-])${phrase}(?![\\w-])`, "g");
}

/** Each use with the words around it, so that it can be found. */
function uses(
  text: string,
  { phrase, instead, allowedPhrases, allowedFiles }: Rule,
  path: string,
): readonly string[] {
  if (allowedFiles.includes(path)) {
    return [];
  }
  const rest = allowedPhrases.reduce((left, allowed) => left.replaceAll(allowed, ""), text);
  return Array.from(rest.matchAll(patternOf(phrase)), ({ index }) => {
    const around = rest.slice(Math.max(0, index - 40), index + phrase.length + 30);
    return `${path}: "…${around}…": write ${instead} instead of "${phrase}"`;
  });
}
