import { indexerKey, isProduction } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { memoize } from "../core/model/memoize.ts";
import {
  type ChainSummary,
  type Incident,
  type Report,
  sharedCauses,
  type TargetReport,
} from "../core/model/report.ts";
import { traitsOf } from "../core/model/statuses.ts";
import { isCritical } from "../core/report/pairs.ts";
import { labelsText } from "./exposition.ts";

/** The labels of an incident. A label that does not apply to its scope is empty. */
export const INCIDENT_LABELS = [
  ...["scope", "subject", "protocol", "variant", "tier", "severity", "host", "chain", "status"],
] as const;

const NO_INDEXER = { protocol: "", variant: "", tier: "" };

/** A series of an incident, and the explained targets that it counts. */
type IncidentSeries = readonly [labels: string, explained: readonly TargetReport[]];

/** The series of the incidents. An incident of an indexer or a host has one for each affected indexer, any other has one. */
export function incidentSeries({ incidents, targets, chains }: Report): readonly IncidentSeries[] {
  if (incidents.length === 0) {
    return [];
  }
  const byKey = new Map(targets.map((target) => [target.key, target]));
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  return sharedCauses(incidents).flatMap(({ scope, subject, targets: keys }) => {
    const all = keys.map((key) => byKey.get(key)).filter((target) => target !== undefined);
    const isOfIndexers = alertsByIndexer(scope);
    const parts = isOfIndexers ? [...groupBy(all, indexerKey).values()] : [all];
    return parts.map((explained) => {
      const [first] = explained;
      const indexer = isOfIndexers && first !== undefined ? first : NO_INDEXER;
      const labels = labelsText({
        ...{ scope, subject, protocol: indexer.protocol, variant: indexer.variant, tier: indexer.tier },
        severity: isOfIndexers ? severityOf(explained, bySlug) : "",
        host: scope === "host" ? subject : "",
        chain: scope === "chain" ? subject : "",
        status: mostFrequentStatus(explained),
      });
      return [labels, explained] as const;
    });
  });
}

/** The keys of targets that need no alert, because their shared cause has one. */
export const explainedKeys = memoize(
  ({ incidents }: Report): ReadonlySet<string> =>
    new Set(incidents.flatMap(({ scope, targets }) => (alertsByIndexer(scope) ? targets : []))),
);

/** Whether an incident of this scope has an alert for each affected indexer. */
function alertsByIndexer(scope: Incident["scope"]): boolean {
  return scope === "endpoint" || scope === "host";
}

/** The highest severity of the alerts that the incident replaces: `critical` if a target alone would page. */
function severityOf(
  explained: readonly TargetReport[],
  bySlug: ReadonlyMap<string, ChainSummary>,
): "critical" | "warning" {
  const pages = explained.some((target) => {
    const chain = bySlug.get(target.chain);
    const isServed = isProduction(target) && chain?.testnet === false && !target.maintenance;
    const isLate = target.status === "lagging" && chain !== undefined && isCritical(target, chain) === true;
    return isServed && (traitsOf(target.status).pages || isLate);
  });
  return pages ? "critical" : "warning";
}

function mostFrequentStatus(targets: readonly TargetReport[]): string {
  const groups = [...groupBy(targets, ({ status }) => status)];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? "";
}
