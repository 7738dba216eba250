import type { FaultBasis, Plan, PlannedProbe } from "../../core/model/plan.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "../../core/model/text.ts";
import { indexerName } from "./targets.ts";

/** The rows of the plan: name, endpoints, interval, requests a day, share of the budget, time to a fault. */
export function planRows({ budgets, indexers }: Plan): readonly (readonly string[])[] {
  const scopes = new Map(budgets.map(({ budget, scope }) => [budget, scope]));
  return indexers.map((row) => {
    const each = scopes.get(row.budget ?? "") === "endpoint" ? " each" : "";
    return [
      row.tier === "" ? row.variant : indexerName(row),
      formatNumber(row.endpoints),
      formatDuration(row.interval_seconds * 1_000),
      formatNumber(row.requests_per_day),
      row.share === null ? "none" : `${formatPercent(row.share)} of ${row.budget}${each}`,
      formatDuration(row.fault_shows_seconds * 1_000),
    ];
  });
}

/** What the column of the detection times means. */
export function describeDetection({ polls, pollMs }: FaultBasis): string {
  return (
    "Fault detected within: the worst case, an endpoint that stops answering just after a poll; " +
    `${formatCount(polls, "poll")} in a row must fail, each after up to ${formatDuration(pollMs)}.`
  );
}

/** `campaigns of airdrops: multichain and subgraph on 19 chains, every 10 min`. */
export function describeProbe({
  probe,
  protocol,
  variants,
  chains,
  every_seconds: every,
}: PlannedProbe): string {
  const listed = `${variants.slice(0, -1).join(", ")} and ${variants.at(-1) ?? ""}`;
  const often = formatDuration(every * 1_000);
  return `${probe} of ${protocol}: ${listed} on ${formatCount(chains.length, "chain")}, every ${often}`;
}

/** What probes cost. */
export const PROBES_ARE_FREE = "Parity probes are part of the requests above and add none of their own.";
