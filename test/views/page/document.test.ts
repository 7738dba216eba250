import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STATUSES } from "../../../src/core/model/report.ts";
import { renderDocumentPage } from "../../../src/views/page/document.ts";
import { statusPath } from "../../../src/views/page/links.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/statuses.md", import.meta.url), "utf8");
const OPTIONS = { nonce: "n0nce", version: "1.2.3" };
const PAGE = renderDocumentPage(DOCUMENT, OPTIONS);

describe("renderDocumentPage()", () => {
  it.each(STATUSES)("has the heading that the status %s links to", (status) => {
    const anchor = statusPath(status).split("#")[1];

    expect(PAGE).toContain(`<h2 id="${anchor}">`);
  });

  it("runs nothing, and does not load itself anew", () => {
    expect(PAGE).not.toContain("<script");
    expect(PAGE).not.toContain("http-equiv");
  });

  it("is named after its first heading", () => {
    expect(PAGE).toContain("<title>Statuses · Synclag</title>");
  });

  it.each([
    {
      case: "a heading",
      text: "## What it is, and why",
      markup: '<h2 id="what-it-is-and-why">What it is, and why</h2>',
    },
    {
      case: "a heading in code",
      text: "## `not_found`",
      markup: '<h2 id="not_found"><code>not_found</code></h2>',
    },
    { case: "a link to a heading", text: "[see](#ok)", markup: '<a href="#ok">see</a>' },
    { case: "a web link", text: "[a](https://a.example)", markup: '<a href="https://a.example">a</a>' },
    { case: "a link to another file as its text", text: "[a](dialects.md)", markup: "<p>a</p>" },
    { case: "a table", text: "| a |\n|---|\n| x \\| y |", markup: "<td>x | y</td>" },
    { case: "fenced code", text: "```sh\na < b\n\n# c\n```", markup: "a &lt; b\n\n# c</pre>" },
  ])("renders $case", ({ text, markup }) => {
    expect(renderDocumentPage(text, OPTIONS)).toContain(markup);
  });

  it("shows markup and script links as text", () => {
    const page = renderDocumentPage(
      "<script>alert(1)</script>\n\na <b onclick=x> [x](javascript:alert(1))",
      OPTIONS,
    );

    expect(page).not.toMatch(/<script|<b onclick|javascript:/);
    expect(page).toContain("&lt;script&gt;");
  });
});
