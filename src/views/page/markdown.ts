import { type Html, html, webLink } from "./html.ts";

/**
 * Renders the part of Markdown that our own documents use: headings, each with its text as its anchor, paragraphs,
 * lists, tables, fenced code, and inside a line `code`, **strong**, *emphasis* and [links](https://…). All else is text.
 */
export function renderMarkdown(text: string): Html {
  return html`${blocksOf(text).map(renderBlock)}`;
}

/** The anchor of a heading, as GitHub makes it. */
export function headingAnchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
}

const HEADING = /^(#{1,4}) +(.+)$/;
const ITEM = /^(?:[-*]|\d+\.) +/;
const NUMBERED = /^\d+\. /;
const FENCE = /^```/;

/** Fenced code, a heading, or lines up to the next of these or a blank one. */
const BLOCK = /^```[\s\S]*?^```|^#{1,4} .*|^(?:(?!```|#{1,4} )\S.*\n?|[ \t]+\S.*\n?)+/gm;

function blocksOf(text: string): readonly (readonly string[])[] {
  return [...text.replaceAll("\r\n", "\n").matchAll(BLOCK)].map(([block]) => block.trimEnd().split("\n"));
}

function renderBlock(lines: readonly string[]): Html {
  const [first = "", second = ""] = lines;
  const heading = HEADING.exec(first);
  if (heading !== null) {
    return renderHeading(heading[1]?.length ?? 1, heading[2] ?? "");
  }
  if (FENCE.test(first)) {
    return html`<pre class="curl" tabindex="0">${lines.slice(1, -1).join("\n")}</pre>`;
  }
  if (first.startsWith("|") && /^\|[\s:|-]+$/.test(second)) {
    return renderTable(lines);
  }
  if (ITEM.test(first)) {
    return renderList(lines);
  }
  return html`<p>${renderInline(lines.join(" "))}</p>
`;
}

function renderHeading(level: number, title: string): Html {
  const anchor = headingAnchor(title);
  const inside = renderInline(title);
  if (level === 1) {
    return html`<h1 id="${anchor}">${inside}</h1>
`;
  }
  return level === 2
    ? html`<h2 id="${anchor}">${inside}</h2>
`
    : html`<h3 id="${anchor}">${inside}</h3>
`;
}

/** A line that starts no item goes on with the one before. */
function renderList(lines: readonly string[]): Html {
  const items: string[] = [];
  for (const line of lines) {
    if (ITEM.test(line)) {
      items.push(line.replace(ITEM, ""));
    } else {
      items.push(`${items.pop() ?? ""} ${line.trim()}`);
    }
  }
  const inside = items.map((item) => html`<li>${renderInline(item)}</li>`);
  return NUMBERED.test(lines[0] ?? "")
    ? html`<ol>${inside}</ol>
`
    : html`<ul>${inside}</ul>
`;
}

function renderTable([head = "", , ...rows]: readonly string[]): Html {
  return html`<div class="box" tabindex="0" role="region" aria-label="Table"><table class="plain"><thead><tr>${cellsOf(head).map((cell) => html`<th scope="col">${renderInline(cell)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cellsOf(row).map((cell) => html`<td>${renderInline(cell)}</td>`)}</tr>`)}</tbody></table></div>
`;
}

function cellsOf(row: string): readonly string[] {
  return row
    .replace(/^\||\|\s*$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)\s]+\))/;

function renderInline(text: string): readonly (Html | string)[] {
  return text.split(INLINE).map((piece, index) => (index % 2 === 0 ? piece : renderMark(piece)));
}

/** A piece that `INLINE` has found. */
function renderMark(piece: string): Html | string {
  if (piece.startsWith("`")) {
    return html`<code>${piece.slice(1, -1)}</code>`;
  }
  if (piece.startsWith("**")) {
    return html`<b>${piece.slice(2, -2)}</b>`;
  }
  if (piece.startsWith("*")) {
    return html`<em>${piece.slice(1, -1)}</em>`;
  }
  const [title = "", target = ""] = piece.slice(1, -1).split("](");
  const link = target.startsWith("#") ? target : webLink(target);
  return link === null ? title : html`<a href="${link}">${title}</a>`;
}
