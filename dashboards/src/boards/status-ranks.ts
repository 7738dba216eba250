import { MappingType, type ValueMap, type ValueMapping } from "@grafana/grafana-foundation-sdk/dashboard";
import type { Status } from "../../../src/core/model/report.ts";

/** A status and its colour. */
interface RankedStatus {
  readonly status: Status;
  /** A colour name of Grafana's palette: readable on light and on dark. */
  readonly color: string;
}

/** Every status, the most urgent last. The rank of a status is its index. */
export const STATUSES_BY_URGENCY: readonly RankedStatus[] = [
  { status: "ok", color: "green" },
  { status: "syncing", color: "blue" },
  { status: "unknown", color: "text" },
  { status: "throttled", color: "light-yellow" },
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

/** PromQL for the rank of the status of each series, by which it is sorted and coloured. */
export function statusRankQuery(selector: string, by: string): string {
  const alternatives = STATUSES_BY_URGENCY.map(
    ({ status }, rank) => `${rank} * (max by (${by}) (synclag_status{${selector}, status="${status}"}) == 1)`,
  );
  return alternatives.toReversed().join(" or ");
}

/** Mappings from ranks to names and colours of statuses. */
export function statusMappings(): ValueMapping[] {
  const options: ValueMap["options"] = Object.fromEntries(
    STATUSES_BY_URGENCY.map(({ status, color }, rank) => [
      String(rank),
      { text: status, color, index: rank },
    ]),
  );
  return [{ type: MappingType.ValueToText, options }];
}
