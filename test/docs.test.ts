import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiPage } from "../docs/api-page.ts";
import { cliPage } from "../docs/cli-page.ts";
import { configurationPage } from "../docs/configuration-page.ts";
import { statusesPage } from "../docs/statuses-page.ts";
import { runCli } from "../src/cli.ts";
import { commandWorld } from "./support/command-world.ts";
import { expectGolden } from "./support/golden.ts";

const PAGES = [
  ...readdirSync(".").filter((name) => name.endsWith(".md")),
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
  "deploy/README.md",
];

const KEY = "0123456789abcdef0123456789abcdef";

describe("the pages", () => {
  it("link to files and headings that exist", () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
        .filter(([, link = ""]) => !leadsSomewhere(page, link))
        .map(([, link]) => `${page}: ${link}`),
    );

    expect(broken).toEqual([]);
  });
});

describe("a page", () => {
  it("begins with the question that it answers", () => {
    // Runbooks say in their own sections what an alert means. The other pages left out here have a form of their own.
    const others = ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md"];
    const pages = PAGES.filter((page) => !page.startsWith("docs/runbooks/") && !others.includes(page));
    const without = pages.filter((page) => {
      const [title = "", first = ""] = read(page)
        .replaceAll(/<!--.*?-->/gs, "")
        .split(/\n\s*\n/)
        .filter((paragraph) => paragraph.trim() !== "");
      return !`${title} ${first}`.includes("?");
    });

    expect(pages.length).toBeGreaterThan(25);
    expect(without).toEqual([]);
  });
});

describe("docs/ACCURACY.md", () => {
  it("says of each tuned number of the head which world notices when it is gone", () => {
    const files = readdirSync("src/core/head").map((name) => read(join("src/core/head", name)));
    const numbers = files.flatMap((text) =>
      Array.from(text.matchAll(/^(?:export )?const ([A-Z][A-Z_\d]*) = \d/gm), ([, name]) => name),
    );
    const listed = Array.from(read("docs/ACCURACY.md").matchAll(/^\| `([A-Z_]+)` \|/gm), ([, name]) => name);

    expect(listed.toSorted()).toEqual(numbers.toSorted());
  });
});

describe("CONTRIBUTING.md", () => {
  it("says which files read a clock", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".ts"),
    );
    const reading = files.filter((name) => /\b(?:Date|performance)\.now\(/.test(read(join("src", name))));

    expect(reading.filter((name) => name !== "main.ts" && !name.startsWith("io/"))).toEqual([]);
    expect(read("CONTRIBUTING.md")).toContain("Only `main.ts` and `src/io` read a clock.");
  });
});

describe("the commands and files of this repository that the pages name", () => {
  it("exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const missing = PAGES.flatMap((page) => [
      ...[...read(page).matchAll(/npm run ([\w:]+)/g)]
        .filter(([, script = ""]) => !(script in scripts))
        .map(([command]) => `${page}: ${command}`),
      ...[...read(page).matchAll(/\b(?:test|bench|dashboards\/src)\/[\w./-]*\.(?:ts|mjs|sh|txt|yaml)\b/g)]
        .filter(([path]) => !existsSync(path))
        .map(([path]) => `${page}: ${path}`),
    ]);

    expect(missing).toEqual([]);
  });
});

describe("a guarantee of SECURITY.md", () => {
  it("names the tests that hold it", () => {
    const [, guarantees = ""] = /^## Guarantees.*\n([\s\S]*?)^## /m.exec(read("SECURITY.md")) ?? [];
    const items = guarantees.split(/^- /m).slice(1);

    expect(items.length).toBeGreaterThan(10);
    expect(items.filter((item) => !/\s\((`test\/[^`]+`(,\s|\)\s*$))+/.test(item))).toEqual([]);
  });
});

/** Configurations that pages show, by their headings. */
const CONFIGURATIONS = ["docs/your-case.md", "README.md"].flatMap((page) =>
  [...read(page).matchAll(/^## ((?:(?!^## ).*\n)*?)^```yaml\n([\s\S]*?)^```$/gm)].map(
    ([, lines = "", text = ""]) => ({
      title: lines.split("\n")[0] ?? "",
      text,
    }),
  ),
);

describe("a configuration of docs/your-case.md or README.md", () => {
  it("exists for each case", () => {
    expect(CONFIGURATIONS.map(({ title }) => title)).toEqual([
      "One indexer, no Prometheus",
      "A graph-node of your own",
      "One subgraph on The Graph's gateway",
      "Subgraphs of one protocol on several chains",
      "Envio and a subgraph side by side",
      "Ponder, and other indexers by their own pages",
      "SQD and SubQuery",
      "Limits in blocks",
      "What is finished",
      "Run it",
    ]);
  });

  it.each(CONFIGURATIONS)("passes `config check`: $title", async ({ text }) => {
    const { world, printed } = commandWorld({ THEGRAPH_API_KEY: KEY, EXAMPLE_API_KEY: KEY, SLACK_KEY: KEY });
    const readFile = (path: string): string => (path === "chains.yaml" ? text : world.readFile(path));

    // The clock is before the end dates in the examples.
    const nowMs = () => Date.parse("2026-01-01T00:00:00Z");
    const exitCode = await runCli(["node", "synclag", "config", "check"], { ...world, readFile, nowMs });

    expect(printed.err).toEqual([]);
    expect(exitCode).toBe(0);
  });
});

describe("docs/faq.md", () => {
  it("shows lines of the plan of the default fleet as they are", async () => {
    const { world, printed } = commandWorld({ THEGRAPH_API_KEY: KEY });

    expect(await runCli(["node", "synclag", "plan"], world)).toBe(0);

    const [, excerpt = ""] = /^\$ npx synclag plan\n([^`]+)\n```/m.exec(read("docs/faq.md")) ?? [];
    const lines = excerpt.split("\n").filter((line) => line !== "…");
    expect(lines.length).toBeGreaterThan(3);
    expect(printed.out.join("\n").split("\n")).toEqual(expect.arrayContaining(lines));
  });
});

describe("docs/configuration.md", () => {
  it("has every key of the schema, with an example", () => {
    expectGolden("docs/configuration.md", configurationPage());
  });
});

describe("docs/api.md", () => {
  it("has every route", () => {
    expectGolden("docs/api.md", apiPage());
  });
});

describe("docs/statuses.md", () => {
  it("names for each status what counts as ok, healthy and usable", () => {
    expectGolden("docs/statuses.md", statusesPage());
  });

  it("quotes details that the stories show, but for their numbers", () => {
    const shown = ["test/goldens", "test/fixtures"]
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
      )
      .filter((path) => path.endsWith(".txt"))
      .map((path) => withoutNumbers(read(path)))
      .join("\n");
    const examples = [...read("docs/statuses.md").matchAll(/^- \*\*Example\*\*: "(.*\n(?: {2}.*\n)*)/gm)];
    const clauses = examples.flatMap(([, text = ""]) =>
      withoutNumbers(text)
        .replace(/" ?$/, "")
        .split(/", or "|; /),
    );

    expect(examples.length).toBeGreaterThan(10);
    expect(clauses.filter((clause) => !shown.includes(clause))).toEqual([]);
  });
});

describe("docs/cli.md", () => {
  it("has the help of every command", async () => {
    expectGolden("docs/cli.md", await cliPage());
  });
});

describe("docs/UPGRADING.md", () => {
  it("has a section for each version since the first", () => {
    const versions = [...read("CHANGELOG.md").matchAll(/^## \[(.*?)\]/gm)].map(([, version]) => version);
    const sections = [...read("docs/UPGRADING.md").matchAll(/^### (\S+), from (\S+)$/gm)];

    expect(sections.map(([, version, from]) => [version, from])).toEqual(
      versions.slice(0, -1).map((version, index) => [version, versions[index + 1]]),
    );
  });
});

function withoutNumbers(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\d[\d,]*(?: (?:s|min|h|d)\b)?/g, "#")
    .replaceAll("# #", "#")
    .replaceAll(/\b(block|source)s\b/g, "$1");
}

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  return existsSync(target) && (heading === undefined || headingsOf(target).includes(heading));
}

/** As GitHub names them. */
function headingsOf(page: string): readonly string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
