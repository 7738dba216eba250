import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STATUSES } from "../../../src/core/model/statuses.ts";

const PAGE = readFileSync(new URL("../../../docs/statuses.md", import.meta.url), "utf8");

describe("docs/statuses.md", () => {
  it("has one section for each status, in the order in which they match", () => {
    const headings = [...PAGE.matchAll(/^## `(\w+)`$/gm)].map(([, status]) => status);

    expect(headings).toEqual([...STATUSES]);
  });

  it("has an example of each status, what to do, and a story of it", () => {
    const folder = "test/fixtures/stories";
    const stories = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
    const lacking = STATUSES.filter((status) => {
      const [, section = ""] = PAGE.split(`## \`${status}\`\n`);
      const [own = ""] = section.split("\n## ");
      return !(
        /^- \*\*Example\*\*: "[\s\S]+?"$/m.test(own) &&
        /^- \*\*What to do\*\*: .+$/m.test(own) &&
        stories.some((text) => new RegExp(`^=> after .* ${status}(: |$)`, "m").test(text))
      );
    });

    expect(lacking).toEqual([]);
  });
});
