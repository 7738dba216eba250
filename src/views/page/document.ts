import { html } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { type PageOptions, renderPage } from "./shell.ts";

/** One of our documents as a page, each heading with an anchor. */
export function renderDocumentPage(markdown: string, options: PageOptions): string {
  const title = /^# +(.+)$/m.exec(markdown)?.[1] ?? "Documentation";
  const main = html`<article class="document">${renderMarkdown(markdown)}</article>`;
  return renderPage({ ...options, title: `${title} · Synclag`, tone: "idle", main, refresh: "never" });
}
