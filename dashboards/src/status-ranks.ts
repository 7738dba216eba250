import type { Status } from "../../src/core/report.ts";

/** How a status looks on a dashboard. */
interface RankedStatus {
  readonly status: Status;
  /** A colour name of Grafana's palette. */
  readonly color: string;
}

/** Every status, the one that needs a person most urgently last: its place is its rank. */
export const STATUSES_BY_URGENCY: readonly RankedStatus[] = [
  { status: "ok", color: "green" },
  { status: "syncing", color: "blue" },
  { status: "unknown", color: "text" },
  { status: "throttled", color: "yellow" },
  { status: "lagging", color: "yellow" },
  { status: "chain_halted", color: "purple" },
  { status: "unreachable", color: "orange" },
  { status: "missing", color: "orange" },
  { status: "not_found", color: "orange" },
  { status: "stalled", color: "red" },
  { status: "rejected", color: "red" },
  { status: "failed", color: "dark-red" },
  { status: "diverged", color: "dark-red" },
];

/** PromQL that gives each target the rank of its status, so that a table can sort by it; with the label `status`. */
export function statusRankQuery(selector: string): string {
  const alternatives = STATUSES_BY_URGENCY.map(
    ({ status }, rank) => `(synclag_status{${selector}, status="${status}"} == 1) * ${rank}`,
  );
  return alternatives.toReversed().join(" or ");
}
