import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { DIALECTS } from "../../src/dialects/registry.ts";

const PAGE = readFileSync(new URL("../../docs/dialects.md", import.meta.url), "utf8");

/** The part of the page under a dialect's heading. */
function sectionOf(name: string): string {
  return PAGE.split(/^(?=## )/m).find((section) => section.startsWith(`## \`${name}\`\n`)) ?? "";
}

function blocksOf(section: string, language: string): readonly string[] {
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\`$`, "gm"))].map(([, block]) =>
    String(block),
  );
}

describe("docs/dialects.md", () => {
  it("has a section for each dialect, in the order of the registry", () => {
    const headings = [...PAGE.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading);

    expect(headings).toEqual(Object.keys(DIALECTS));
  });

  it.each(Object.entries<Dialect>(DIALECTS))("prints the queries of %s as they are sent", (name, dialect) => {
    const queries = dialect.questions.map(({ body }) => body["query"]);

    expect(blocksOf(sectionOf(name), "graphql")).toEqual(queries);
  });

  it.each(Object.entries<Dialect>(DIALECTS))(
    "prints a reply of %s that is read without a complaint",
    (name, dialect) => {
      const replies = blocksOf(sectionOf(name), "json").map((block): unknown => JSON.parse(block).data);

      const readings = replies.map((data) => dialect.questions[0]?.read(data));

      expect(readings).toHaveLength(1);
      expect(readings).toMatchObject([{ kind: "rows", rows: expect.arrayContaining([expect.anything()]) }]);
      expect(JSON.stringify(readings)).not.toContain('"failed"');
    },
  );
});
