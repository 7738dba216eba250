import { describe, expect, it } from "vitest";
import { renderHtml } from "../../../src/views/page/html.ts";
import { headingAnchor, renderMarkdown } from "../../../src/views/page/markdown.ts";

describe("renderMarkdown()", () => {
  it.each([
    {
      case: "a heading, with its anchor",
      text: "## chain_halted",
      markup: '<h2 id="chain_halted">chain_halted</h2>',
    },
    { case: "a heading of a status in code", text: "## `ok`", markup: '<h2 id="ok"><code>ok</code></h2>' },
    { case: "a paragraph of several lines", text: "one\ntwo", markup: "<p>one two</p>" },
    { case: "two paragraphs", text: "one\n\ntwo", markup: "<p>one</p>\n<p>two</p>" },
    { case: "a list", text: "- one\n  more\n- two", markup: "<ul><li>one more</li><li>two</li></ul>" },
    { case: "a numbered list", text: "1. one\n2. two", markup: "<ol><li>one</li><li>two</li></ol>" },
    {
      case: "what is emphasized, and no stars of an expression",
      text: "*Status → Targets* of 2 * 3 * 4",
      markup: "<p><em>Status → Targets</em> of 2 * 3 * 4</p>",
    },
    { case: "code", text: "say `a < b`", markup: "<p>say <code>a &lt; b</code></p>" },
    { case: "what is strong", text: "**now** or never", markup: "<p><b>now</b> or never</p>" },
    { case: "an anchor", text: "[see](#ok)", markup: '<p><a href="#ok">see</a></p>' },
    { case: "a link", text: "[a](https://a.example)", markup: '<p><a href="https://a.example">a</a></p>' },
    { case: "a link to another file as its text", text: "[a](dialects.md)", markup: "<p>a</p>" },
  ])("renders $case", ({ text, markup }) => {
    expect(renderHtml(renderMarkdown(text)).trim()).toBe(markup);
  });

  it("renders a heading right above its text, and fenced code with blank lines", () => {
    const markup = renderHtml(renderMarkdown("# A\ntext\n```sh\na\n\n# b\n```\nmore"));

    expect(markup).toContain('<h1 id="a">A</h1>\n<p>text</p>');
    expect(markup).toContain("a\n\n# b</pre>");
    expect(markup).toContain("<p>more</p>");
  });

  it("renders a table", () => {
    const markup = renderHtml(renderMarkdown("| a | b |\n|---|:-:|\n| `1` | x \\| y |"));

    expect(markup).toContain('<th scope="col">a</th><th scope="col">b</th>');
    expect(markup).toContain("<td><code>1</code></td><td>x | y</td>");
  });

  it("takes markup and scripts for text", () => {
    const markup = renderHtml(renderMarkdown("<script>alert(1)</script> [x](javascript:alert(1))"));

    expect(markup).not.toContain("<script");
    expect(markup).not.toContain("href");
  });
});

describe("headingAnchor()", () => {
  it.each([
    { title: "ok", anchor: "ok" },
    { title: "`not_found`", anchor: "not_found" },
    { title: "What it is, and why", anchor: "what-it-is-and-why" },
  ])("is $anchor for $title", ({ title, anchor }) => {
    expect(headingAnchor(title)).toBe(anchor);
  });
});
