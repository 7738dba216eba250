import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const MOST_FILES = 14;
const MOST_LINES = 500;

const PAGE = readFileSync("docs/ARCHITECTURE.md", "utf8");
const FOLDERS = [...PAGE.matchAll(/^\| `(src[\w/-]*)` \|/gm)].map(([, folder]) => folder ?? "");
const FILES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => join("src", path));

describe("docs/ARCHITECTURE.md", () => {
  it("lists every folder of src", () => {
    expect(new Set(FOLDERS)).toEqual(new Set(FILES.map((file) => dirname(file))));
  });

  it("lists a folder below those it imports from", () => {
    const upward = FILES.flatMap((file) =>
      importsOf(file)
        .filter((imported) => FOLDERS.indexOf(dirname(imported)) > FOLDERS.indexOf(dirname(file)))
        .map((imported) => `${file} imports ${imported}`),
    );

    expect(upward).toEqual([]);
  });
});

describe("src", () => {
  it("has few files in each folder", () => {
    const sizes = FOLDERS.map((folder) => ({
      folder,
      files: FILES.filter((file) => dirname(file) === folder).length,
    }));

    expect(sizes.filter(({ files }) => files > MOST_FILES)).toEqual([]);
  });

  it("has short files", () => {
    const lines = FILES.map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n").length - 1 }));

    expect(lines.filter(({ lines: count }) => count > MOST_LINES)).toEqual([]);
  });
});

/** What a file imports from src, statically or by `import()`; commands are loaded when they are called. */
function importsOf(file: string): readonly string[] {
  return [...readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? "")),
  );
}
