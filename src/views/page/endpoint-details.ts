import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import { formatDuration } from "../../core/model/text.ts";
import { formatAgo } from "../wording/duration.ts";
import { type Html, html } from "./html.ts";

/** What an endpoint said last, and how to ask it by hand; null before it was asked. Opened where something is wrong. */
export function renderEndpointDetails(
  record: EndpointRecord | undefined,
  view: { readonly id: string; readonly nowMs: number; readonly open: "open" | "closed" },
): Html | null {
  if (record?.curl == null) {
    return null;
  }
  const shared = record.targets.length > 1 ? ` It serves ${record.targets.length} targets at once.` : "";
  return html`<details id="${view.id}"${view.open === "open" ? html` open` : null}><summary>Last answers, and the poll by hand</summary>
<p class="hint">Endpoint <b>${record.key}</b>.${shared}</p>
<pre class="curl" tabindex="0" role="region" aria-label="The poll of ${record.key} by hand">${record.curl}</pre>
${renderList("Last failures", record.failures, view.nowMs)}
${renderList("Last good replies", record.replies, view.nowMs)}</details>`;
}

function renderList(title: string, exchanges: readonly Exchange[], nowMs: number): Html | null {
  return exchanges.length === 0
    ? null
    : html`<h4>${title}</h4><ol class="said">${exchanges.map((exchange) => renderExchange(exchange, nowMs))}</ol>`;
}

function renderExchange(
  { sentAtMs, receivedAtMs, httpStatus, outcome, text }: Exchange,
  nowMs: number,
): Html {
  const how = [
    formatAgo(receivedAtMs, nowMs),
    httpStatus === null ? "no HTTP answer" : `HTTP ${httpStatus}`,
    `in ${formatDuration(receivedAtMs - sentAtMs)}`,
  ];
  return html`<li><span class="meta">${how.join(", ")}</span> ${outcome === "usable" ? null : html`<b>${outcome}</b>`} <q>${text}</q></li>
`;
}
