import type { SkippedIndexer } from "../../core/model/fleet.ts";
import { formatNumber } from "../../core/model/text.ts";
import type { BudgetJson } from "../api/api-schema.ts";
import { type Html, html } from "./html.ts";
import { PLAN_PATH } from "./links.ts";

/** A line for each budget: of one that every endpoint has for itself, the one that is nearest to its limit. */
export function renderBudgets(budgets: readonly BudgetJson[]): Html | null {
  if (budgets.length === 0) {
    return null;
  }
  const names = [...new Set(budgets.map(({ budget }) => budget))];
  return html`<section aria-labelledby="budgets-title"><h2 id="budgets-title">Budgets <small><a href="${PLAN_PATH}">all of them, and the plan</a></small></h2>
<div class="box" id="box-budgets" role="region" aria-label="Budgets" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Budget</th><th scope="col">Used</th><th scope="col">Left</th><th scope="col">Where</th></tr></thead>
<tbody>${names.map((name) => renderBudget(budgets.filter(({ budget }) => budget === name)))}</tbody></table></div></section>`;
}

/** The optional indexers that nobody polls, and why; null while all are polled. */
export function renderSkipped(skipped: readonly SkippedIndexer[]): Html | null {
  if (skipped.length === 0) {
    return null;
  }
  return html`<section aria-labelledby="skipped-title"><h2 id="skipped-title">Not polled</h2>
<ul class="list">${skipped.map(
    ({ protocol, variant, tier, why }) => html`<li><b>${protocol} ${variant} (${tier})</b>: ${why}</li>`,
  )}</ul></section>`;
}

function renderBudget(budgets: readonly BudgetJson[]): Html | null {
  const tightest = budgets.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)[0];
  if (tightest === undefined) {
    return null;
  }
  const { budget, endpoint, per, limit, used, remaining } = tightest;
  const where =
    endpoint === null ? "shared by all that name it" : `${endpoint}, the tightest of ${budgets.length}`;
  return html`<tr><th scope="row">${budget}</th><td><meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${used}" aria-label="${budget} used"></meter> ${formatNumber(used)} of ${formatNumber(limit)} a ${per}</td><td>${formatNumber(remaining)}</td><td>${where}</td></tr>
`;
}
