import type { Report, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatDuration } from "../../core/model/text.ts";
import { keepTargets } from "../api/filter-status.ts";
import { describeMissing, type Selection, selectTargets } from "../api/selection.ts";

/** What the filters of `synclag check` select, or an error for each filter that matches nothing. */
export type CheckSelection =
  | { readonly kind: "selected"; readonly json: Report; readonly selections: readonly Selection[] }
  | { readonly kind: "errors"; readonly errors: readonly string[] };

/** Narrows a status to the filters `protocol`, `protocol/chain` or `protocol/chain/variant`; without filters, to everything. */
export function selectForCheck(json: Report, filters: readonly string[]): CheckSelection {
  const parsed = filters.map(parseSelection);
  const errors = parsed.flatMap((result) => {
    if (typeof result === "string") {
      return [result];
    }
    return selectTargets(json.targets, result).length === 0 ? [describeMissing(json.targets, result)] : [];
  });
  if (errors.length > 0) {
    return { kind: "errors", errors };
  }
  const selections = parsed.filter((result) => typeof result !== "string");
  if (selections.length === 0) {
    return { kind: "selected", json, selections };
  }
  const keys = new Set(selections.flatMap((one) => selectTargets(json.targets, one).map(({ key }) => key)));
  const targets = json.targets.filter((target) => keys.has(target.key));
  return { kind: "selected", json: keepTargets(json, targets), selections };
}

/**
 * Treats targets that are ok but further behind than `maxLagMs` as lagging, and, where the lag is unknown, those that
 * have not advanced for that long. It is only ever stricter than the configuration.
 */
export function applyMaxLag(json: Report, maxLagMs: number): Report {
  const nowMs = Date.parse(json.generated_at);
  const targets = json.targets.map((target) => {
    const why = target.status === "ok" ? whyTooFarBehind(target, maxLagMs, nowMs) : null;
    return why === null ? target : { ...target, status: "lagging" as const, detail: why };
  });
  return { ...json, targets };
}

function parseSelection(filter: string): Selection | string {
  const parts = filter.split("/");
  const [protocol = "", chain, variant] = parts;
  return parts.length > 3 || parts.includes("")
    ? `Cannot use filter '${filter}': expected protocol, protocol/chain or protocol/chain/variant`
    : { protocol, chain, variant };
}

function whyTooFarBehind(
  { lag_seconds, last_advance }: TargetReport,
  maxLagMs: number,
  nowMs: number,
): string | null {
  const limit = `more than the --max-lag of ${formatDuration(maxLagMs)}`;
  if (lag_seconds !== null) {
    const lagMs = lag_seconds * 1000;
    return lagMs <= maxLagMs ? null : `${formatDuration(lagMs)} behind the reference, ${limit}`;
  }
  if (last_advance === null) {
    return "Lag unknown, and never seen to advance";
  }
  const advancedMs = Date.parse(last_advance);
  return nowMs - advancedMs <= maxLagMs
    ? null
    : `Lag unknown; last advanced ${formatAgo(advancedMs, nowMs)}, ${limit}`;
}
