import type { ParityProbe } from "../../core/model/parity.ts";
import type { FaultBasis, PlanRow } from "../../core/model/plan.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "../../core/model/text.ts";
import { indexerName } from "./targets.ts";

/** A row of the plan: name, endpoints, interval, requests a day, share of the budget, time to a fault. */
export function planCells(row: PlanRow): readonly string[] {
  return [
    row.tier === "" ? row.variant : indexerName(row),
    formatNumber(row.endpoints),
    formatDuration(row.intervalMs),
    formatNumber(row.requestsPerDay),
    describeShare(row),
    formatDuration(row.faultShowsMs),
  ];
}

/** `48% of studio each`, `67.1% of gateway`, or `none` without a budget. */
function describeShare({ budget, share }: PlanRow): string {
  return budget === null || share === null
    ? "none"
    : `${formatPercent(share)} of ${budget.name}${budget.scope === "endpoint" ? " each" : ""}`;
}

/** What the column of the detection times means. */
export function describeDetection({ polls, pollMs }: FaultBasis): string {
  return (
    "Fault detected within: the worst case, an endpoint that stops answering just after a poll; " +
    `${formatCount(polls, "poll")} in a row must fail, each after up to ${formatDuration(pollMs)}.`
  );
}

/** `campaigns of airdrops: multichain and subgraph on 19 chains, every 10 min`. */
export function describeProbe({ name, protocol, variants, chains, everyMs }: ParityProbe): string {
  const listed = `${variants.slice(0, -1).join(", ")} and ${variants.at(-1) ?? ""}`;
  return `${name} of ${protocol}: ${listed} on ${formatCount(chains.length, "chain")}, every ${formatDuration(everyMs)}`;
}

/** What probes cost. */
export const PROBES_ARE_FREE = "Values compared ride in the requests above and add none.";
