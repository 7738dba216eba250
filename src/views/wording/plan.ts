import type { Plan } from "../../core/model/plan.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "../../core/model/text.ts";
import { indexerName } from "./targets.ts";

type Row = Plan["indexers"][number];

/** What the plan says of each indexer. */
export function planColumns({ budgets }: Plan) {
  const isEach = (name: string) =>
    budgets.some(({ budget, scope }) => budget === name && scope === "endpoint");
  return {
    Indexer: (row: Row) => (row.tier === "" ? row.variant : indexerName(row)),
    Endpoints: (row: Row) => formatNumber(row.endpoints),
    "Polled every": (row: Row) => formatDuration(row.interval_seconds * 1_000),
    "Requests a day": (row: Row) => formatNumber(row.requests_per_day),
    "Share of budget": ({ budget, share }: Row) =>
      budget === null || share === null
        ? "none"
        : `${formatPercent(share)} of ${budget}${isEach(budget) ? " each" : ""}`,
  };
}

/** How much is polled, and how much of a budget that takes at most. */
export function describePlan({ totals, budgets }: Plan): string {
  const fullest = budgets.toSorted((a, b) => b.share - a.share)[0];
  const usage =
    fullest === undefined
      ? "no budgets configured"
      : `at most ${formatPercent(fullest.share)} of a budget (${fullest.budget})`;
  const requests = `${formatNumber(totals.requests_per_day)} requests a day`;
  return `${formatCount(totals.endpoints, "endpoint")}, ${requests}, ${usage}`;
}
