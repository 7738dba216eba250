import { type Html, html } from "./html.ts";
import { historyPath } from "./links.ts";

/** Where the plots of a protocol go, once the page's script draws them; until then nothing is shown. */
export function renderPlotSection(protocol: string, chain: string): Html {
  return html`<div class="plots" id="plots-${protocol}" data-keep data-history="${historyPath(protocol, chain)}" hidden></div>`;
}
