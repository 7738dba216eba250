import { groupBy } from "../../core/model/group-by.ts";
import type { Plan } from "../../core/model/plan.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "../../core/model/text.ts";
import { indexerName } from "./targets.ts";

type Row = Plan["indexers"][number];

/** The columns of the plan. An indexer has a row for each schedule and budget of its endpoints. */
export function planColumns({ budgets, indexers }: Plan) {
  const nameOf = (row: Row) => (row.tier === "" ? row.variant : indexerName(row));
  const rows = groupBy(indexers, nameOf);
  const isEach = (name: string) =>
    budgets.some(({ budget, scope }) => budget === name && scope === "endpoint");
  return {
    // The largest row of an indexer has only its name, the others also name their chains.
    Indexer: (row: Row) => {
      const [largest] = (rows.get(nameOf(row)) ?? []).toSorted(
        (one, other) => other.endpoints - one.endpoints,
      );
      return largest === row ? nameOf(row) : `${nameOf(row)}: ${listNames(row.names)}`;
    },
    Endpoints: (row: Row) => formatNumber(row.endpoints),
    "Polled every": (row: Row) => formatDuration(row.interval_seconds * 1_000),
    "Requests a day": (row: Row) => formatNumber(row.requests_per_day),
    "Share of budget": ({ budget, endpoints, share }: Row) =>
      budget === null || share === null
        ? "none"
        : `${formatPercent(share)} of ${budget}${endpoints > 1 && isEach(budget) ? " each" : ""}`,
    ...(indexers.some(({ probes }) => probes.length > 0) && { Probes: describeProbes }),
  };
}

function describeProbes({ probes }: Row): string {
  const each = probes.map(
    ({ probe, every_seconds: every, requests_per_day: own }) =>
      `${probe} every ${formatDuration(every * 1_000)}${own === 0 ? "" : ` (${formatNumber(own)} of these requests)`}`,
  );
  return each.join(", ") || "none";
}

const MAX_NAMES = 3;

function listNames(all: readonly string[]): string {
  const names = [...new Set(all)];
  const more = names.length - MAX_NAMES;
  return more > 1 ? `${names.slice(0, MAX_NAMES).join(", ")} and ${more} more` : names.join(", ");
}

/** How much is polled, and the largest share of a budget that the polls use. */
export function describePlan({ totals, budgets }: Plan): string {
  const fullest = budgets.toSorted((a, b) => b.share - a.share)[0];
  const usage =
    fullest === undefined
      ? "no budgets configured"
      : `most used budget: ${fullest.budget}, ${formatPercent(fullest.share)}`;
  const requests = `${formatNumber(totals.requests_per_day)} requests a day`;
  return `${formatCount(totals.endpoints, "endpoint")}, ${requests}; ${usage}`;
}
