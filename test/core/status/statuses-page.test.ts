import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STATUSES } from "../../../src/core/model/report.ts";

const PAGE = readFileSync(new URL("../../../docs/statuses.md", import.meta.url), "utf8");

describe("docs/statuses.md", () => {
  it("has one section for each status, in the order in which they match", () => {
    const headings = [...PAGE.matchAll(/^## `(\w+)`$/gm)].map(([, status]) => status);

    expect(headings).toEqual([...STATUSES]);
  });

  it.each(STATUSES)("gives an example of %s, and says what to do", (status) => {
    const [, section = ""] = PAGE.split(`## \`${status}\`\n`);
    const [own = ""] = section.split("\n## ");

    expect(own).toMatch(/^- \*\*Example\*\*: ".+"$/m);
    expect(own).toMatch(/^- \*\*What to do\*\*: .+$/m);
  });
});
