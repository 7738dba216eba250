import { indexerKey, isProduction } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { ChainSummary, Report, Status, TargetReport } from "../core/model/report.ts";
import { labelsText } from "./exposition.ts";

/** Labels of an incident: of the affected indexer, host or chain. Other labels are empty. */
export const INCIDENT_LABELS = [
  ...["scope", "subject", "protocol", "variant", "tier", "severity", "host", "chain", "status"],
] as const;

/** Statuses that page for a single target. */
const CRITICAL: ReadonlySet<Status> = new Set(["stalled", "failed", "diverged", "missing"]);
/** The share of an indexer's targets with such a status that makes an incident critical. */
const CRITICAL_SHARE = 1 / 3;

const NO_INDEXER = { protocol: "", variant: "", tier: "" };

/** A series, and the targets that the incident explains in it. */
type IncidentSeries = readonly [labels: string, explained: readonly TargetReport[]];

/** An incident of an indexer or a host is a series for each indexer that it affects, any other is one series. */
export function incidentSeries({ incidents, targets, chains }: Report): readonly IncidentSeries[] {
  if (incidents.length === 0) {
    return [];
  }
  const byKey = new Map(targets.map((target) => [target.key, target]));
  const byIndexer = groupBy(targets, indexerKey);
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  return incidents.flatMap(({ scope, subject, targets: keys }) => {
    const all = keys.map((key) => byKey.get(key)).filter((target) => target !== undefined);
    const isOfIndexers = scope === "endpoint" || scope === "host";
    const parts = isOfIndexers ? [...groupBy(all, indexerKey).values()] : [all];
    return parts.map((explained) => {
      const [first] = explained;
      const indexer = isOfIndexers && first !== undefined ? first : NO_INDEXER;
      const own = byIndexer.get(indexerKey(indexer));
      const labels = labelsText({
        ...{ scope, subject, protocol: indexer.protocol, variant: indexer.variant, tier: indexer.tier },
        severity: own === undefined ? "" : severityOf(own, bySlug),
        host: scope === "host" ? subject : "",
        chain: scope === "chain" ? subject : "",
        status: mostFrequentStatus(explained),
      });
      return [labels, explained] as const;
    });
  });
}

/** `critical` where a third of an indexer's targets would page one by one, else `warning`. */
function severityOf(
  targets: readonly TargetReport[],
  bySlug: ReadonlyMap<string, ChainSummary>,
): "critical" | "warning" {
  const paging = targets.filter((target) => {
    const chain = bySlug.get(target.chain);
    const isServed = isProduction(target) && chain?.testnet === false && !target.maintenance;
    return isServed && (CRITICAL.has(target.status) || isLate(target, chain));
  });
  return paging.length >= targets.length * CRITICAL_SHARE ? "critical" : "warning";
}

function isLate({ status, lag_seconds: lag }: TargetReport, { thresholds }: ChainSummary): boolean {
  return status === "lagging" && lag !== null && lag > thresholds.critical_seconds;
}

function mostFrequentStatus(targets: readonly TargetReport[]): string {
  const groups = [...groupBy(targets, ({ status }) => status)];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? "";
}
