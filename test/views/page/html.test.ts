import { describe, expect, it } from "vitest";
import { html, ownMarkup, renderHtml, webLink } from "../../../src/views/page/html.ts";

const HOSTILE = `<script>alert("1")</script> & 'x'`;
const ESCAPED = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;";

describe("html", () => {
  it.each([
    { case: "text", value: HOSTILE },
    { case: "text in a list", value: [HOSTILE] },
    { case: "text in markup", value: html`${HOSTILE}` },
  ])("escapes $case", ({ value }) => {
    expect(renderHtml(html`<p title="a">${value}</p>`)).toBe(`<p title="a">${ESCAPED}</p>`);
  });

  it("keeps markup, joins lists and leaves out null", () => {
    const items = ["a", "b"].map((name) => html`<li>${name}</li>`);

    expect(renderHtml(html`<ul>${items}</ul>${null}${7}`)).toBe("<ul><li>a</li><li>b</li></ul>7");
  });

  it("keeps our own constants as they stand", () => {
    expect(renderHtml(html`<style>${ownMarkup("a>b{}")}</style>`)).toBe("<style>a>b{}</style>");
  });
});

describe("webLink()", () => {
  it.each([
    { url: "https://explorer.example/x", link: "https://explorer.example/x" },
    { url: "HTTP://explorer.example", link: "HTTP://explorer.example" },
    { url: "javascript:alert(1)", link: null },
    { url: "data:text/html,x", link: null },
    { url: null, link: null },
  ])("is $link for $url", ({ url, link }) => {
    expect(webLink(url)).toBe(link);
  });
});
