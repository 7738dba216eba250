import { indexerKey } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Report, TargetReport } from "../core/model/report.ts";
import { labelsText } from "./exposition.ts";

/** Labels of an incident: those of the indexer that it affects, or of its host or chain. What it does not concern is empty. */
export const INCIDENT_LABELS = [
  ...["scope", "subject", "protocol", "variant", "tier", "host", "chain", "status"],
] as const;

interface IncidentSeries {
  readonly labels: string;
  readonly explained: readonly TargetReport[];
}

/** An incident of an indexer or a host is a series for each indexer that it affects, any other is one series. */
export function incidentSeries({ incidents, targets }: Report): readonly IncidentSeries[] {
  const byKey = new Map(targets.map((target) => [target.key, target]));
  return incidents.flatMap(({ scope, subject, targets: keys }) => {
    const all = keys.map((key) => byKey.get(key)).filter((target) => target !== undefined);
    const isOfIndexers = scope === "endpoint" || scope === "host";
    const parts = isOfIndexers ? [...groupBy(all, indexerKey).values()] : [all];
    return parts.map((explained) => {
      const [first] = explained;
      const of = isOfIndexers && first !== undefined ? first : { protocol: "", variant: "", tier: "" };
      const labels = labelsText({
        ...{ scope, subject, protocol: of.protocol, variant: of.variant, tier: of.tier },
        host: scope === "host" ? subject : "",
        chain: scope === "chain" ? subject : "",
        status: mostFrequent(explained.map(({ status }) => status)) ?? "",
      });
      return { labels, explained };
    });
  });
}

function mostFrequent<Value>(values: readonly Value[]): Value | undefined {
  const groups = [...groupBy(values, (value) => value).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}
