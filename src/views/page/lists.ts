import type { Report } from "../../core/model/report.ts";
import { formatCount } from "../../core/model/text.ts";
import { indexerName } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { renderSection } from "./shell.ts";

/** How many targets the filter of a page shows, and the way back to all; null if it shows all. */
export function renderFilterNote(report: Report, shown: Report, path: string): Html | null {
  const all = formatCount(report.targets.length, "target");
  return shown === report
    ? null
    : html`<p class="hint" id="shown">Showing ${shown.targets.length} of ${all}. <a href="${path}">Show all</a></p>`;
}

/** Chains that endpoints serve and chains.yaml does not list; null if there are none. */
export function renderUnlisted({ chains, unlisted }: Pick<Report, "chains" | "unlisted">): Html | null {
  const names = new Map(chains.map(({ chain_id: id, slug }) => [id, `${id} (${slug})`]));
  const items = unlisted
    .filter(({ chain_ids: ids }) => ids.length > 0)
    .map(({ chain_ids: ids, endpoint }) => {
      const listed = ids.map((id) => names.get(id) ?? id).join(", ");
      return html`<li><b>${endpoint}</b>: ${formatCount(ids.length, "chain")}: ${listed}</li>`;
    });
  return renderList("unlisted", "Served, but not in chains.yaml", items);
}

/** The optional indexers that are not polled, and why; null if all are. */
export function renderSkipped(skipped: Report["skipped"]): Html | null {
  const items = skipped.map((one) => html`<li><b>${indexerName(one)}</b>: ${one.why}</li>`);
  return renderList("skipped", "Not polled", items);
}

/** A section with a list; null without items. */
export function renderList(id: string, title: string, items: readonly Html[]): Html | null {
  return items.length === 0 ? null : renderSection(id, title, html`<ul class="list">${items}</ul>`);
}
