import { parse, Renderer, type Tokens } from "marked";
import { html, ownMarkup, renderHtml, webLink } from "./html.ts";
import { API_PATH, RUNBOOKS_PATH, STATUSES_PATH } from "./links.ts";
import { type PageOptions, renderPage } from "./shell.ts";

/** A Markdown document of this project as a page. Each heading has an anchor. */
export function renderDocumentPage(markdown: string, options: PageOptions): string {
  const title = /^# +(.+)$/m.exec(markdown)?.[1] ?? "Documentation";
  const body = ownMarkup(parse(markdown, { async: false, renderer: new DocumentRenderer() }));
  const main = html`<article class="document">${body}</article>`;
  return renderPage({ ...options, title: `${title} · Synclag`, tone: "idle", main });
}

/** The index of the documents as Markdown: each runbook with its first sentence. `documents`: their texts by path. */
export function indexMarkdown(documents: ReadonlyMap<string, string>): string {
  const runbooks = [...documents].filter(([path]) => path.startsWith(`${RUNBOOKS_PATH}/Synclag`)).sort();
  const lines = runbooks.map(([path, text]) => {
    const about = /## Meaning\s+(.+?\.)(?:\s|$)/s.exec(text)?.[1] ?? "";
    return `- [${path.split("/").at(-1) ?? ""}](${path}): ${about}`;
  });
  return `# Documentation

- [Statuses](${STATUSES_PATH}): what each means, and what to do
- [API](${API_PATH}): the routes for programs
- [Silencing](${RUNBOOKS_PATH}/Silencing): planned work and known problems

## Runbooks

One for each alert.

${lines.join("\n")}
`;
}

/** The id that GitHub gives a heading. */
function headingId(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
}

/** The path at which Synclag serves a linked document of docs/; null if it does not serve it. */
function servedPath(href: string): string | null {
  const runbook = /^(?:runbooks\/)?((?:Synclag\w+|Silencing)\.md)$/.exec(href)?.[1];
  if (runbook !== undefined) {
    return `${RUNBOOKS_PATH}/${runbook}`;
  }
  const statuses = /^(?:\.\.\/)?statuses\.md(#\w+)?$/.exec(href);
  return statuses === null ? null : `${STATUSES_PATH}${statuses[1] ?? ""}`;
}

/** Shows HTML inside Markdown as text, drops its comments, and keeps only the links that work on the page. */
class DocumentRenderer extends Renderer {
  /** The number of tables so far. It is part of their names, which must differ on one page. */
  #tables = 0;

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    return `<h${depth} id="${headingId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override code({ text }: Tokens.Code): string {
    return renderHtml(html`<pre class="curl" tabindex="0">${text}</pre>\n`);
  }

  override table(token: Tokens.Table): string {
    const table = super.table(token).replace("<table>", '<table class="plain">');
    this.#tables += 1;
    return `<div class="box" tabindex="0" role="region" aria-label="Table ${this.#tables}">${table}</div>\n`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const inside = this.parser.parseInline(tokens);
    const target = /^[#/]/.test(href) ? href : (servedPath(href) ?? webLink(href));
    return target === null ? inside : renderHtml(html`<a href="${target}">${ownMarkup(inside)}</a>`);
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.startsWith("<!--") ? "" : renderHtml(html`${text}`);
  }
}
