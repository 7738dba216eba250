import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const PAGE = readFileSync("docs/ARCHITECTURE.md", "utf8");
const FOLDERS = [...PAGE.matchAll(/^- `(src[\w/-]*)`:/gm)].map(([, folder]) => folder ?? "");
const FILES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => join("src", path));

/** What the pure folders may import: these folders and packages, nothing else. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  "src/core/": ["src/core/", "zod"],
  "src/dialects/": ["src/dialects/", "src/core/", "zod"],
  "src/views/": ["src/views/", "src/core/", "zod", "marked"],
};
/** io is wired by the application; of the configuration it knows the settings that it is started with. */
const NOT_IN_IO = ["src/config/", "src/dialects/", "src/commands/"];
const SETTINGS_IN_IO = ["src/config/config.ts"];

describe("docs/ARCHITECTURE.md", () => {
  it("lists every folder of src", () => {
    expect(new Set(FOLDERS)).toEqual(new Set(FILES.map((file) => dirname(file))));
  });

  it("lists each folder below the folders that it imports from", () => {
    const upward = importsWhere(
      (file, imported) => FOLDERS.indexOf(dirname(imported)) > FOLDERS.indexOf(dirname(file)),
    );

    expect(upward).toEqual([]);
  });
});

describe("the walk of a reply in docs/ARCHITECTURE.md", () => {
  it("leads from each file to files that it imports", () => {
    const steps = Array.from(PAGE.matchAll(/^( +)(src\/[\w/-]+\.ts)/gm), ([, indent = "", file = ""]) => {
      return { depth: indent.length, file };
    });
    const astray = steps.flatMap(({ depth, file }, index) => {
      const above = steps.slice(0, index).findLast((step) => step.depth < depth)?.file;
      return depth === 2 || above === undefined || importsOf(above).includes(file)
        ? []
        : [`${above} does not import ${file}`];
    });

    expect(steps.length).toBeGreaterThan(30);
    expect(astray).toEqual([]);
  });
});

describe("the pure folders", () => {
  it("import each other in one direction, and no package but zod and marked", () => {
    const impure = importsWhere((file, imported) => {
      const allowed = Object.entries(PURE).find(([folder]) => file.startsWith(folder))?.[1];
      return allowed !== undefined && !allowed.some((start) => isWithin(imported, start));
    });

    expect(impure).toEqual([]);
  });
});

describe("io", () => {
  it("imports no configuration but settings, no dialect and no command", () => {
    const misplaced = importsWhere(
      (file, imported) =>
        file.startsWith("src/io/") &&
        NOT_IN_IO.some((folder) => imported.startsWith(folder)) &&
        !SETTINGS_IN_IO.includes(imported),
    );

    expect(misplaced).toEqual([]);
  });
});

describe("synclag run", () => {
  it("loads at its start only the packages that every daemon needs: each takes memory", () => {
    const packages = loadedBy("src/cli.ts", "src/commands/run.ts").filter((path) => !path.startsWith("src/"));

    expect(packages.filter((path) => !path.startsWith("node:")).toSorted()).toEqual([
      "commander",
      "fastify",
      "marked",
      "node-cron",
      "p-limit",
      "pino",
      "prom-client",
      "undici/lib/dispatcher/agent.js",
      "yaml",
      "zod",
    ]);
  });
});

/** What these files import with all that they import, without types and what is imported on demand. */
function loadedBy(...files: readonly string[]): readonly string[] {
  const loaded = new Set(files);
  for (const file of loaded) {
    const text = file.startsWith("src/") ? readFileSync(file, "utf8") : "";
    for (const [, path = ""] of text.matchAll(/^(?:import|export)\s(?!type\s)[^;="]*?from\s"([^"]+)";$/gm)) {
      loaded.add(path.startsWith(".") ? normalize(join(dirname(file), path)) : path);
    }
  }
  return [...loaded];
}

function importsWhere(isWrong: (file: string, imported: string) => boolean): readonly string[] {
  return FILES.flatMap((file) =>
    importsOf(file)
      .filter((imported) => isWrong(file, imported))
      .map((imported) => `${file} imports ${imported}`),
  );
}

/** What a file imports, statically or by `import()` (commands are loaded when they are called): paths from the root, or packages. */
function importsOf(file: string): readonly string[] {
  return [
    ...readFileSync(file, "utf8").matchAll(/(?:(?:^|[}*\w]\s)from|\bimport|\bimport\()\s*"([^"]+)"/g),
  ].map(([, path = ""]) => (path.startsWith(".") ? normalize(join(dirname(file), path)) : path));
}

function isWithin(imported: string, start: string): boolean {
  return start.endsWith("/") ? imported.startsWith(start) : imported === start;
}
