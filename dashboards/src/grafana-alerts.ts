import { QueryBuilder } from "@grafana/grafana-foundation-sdk/alerting";
import { TypeThresholdBuilder } from "@grafana/grafana-foundation-sdk/expr";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import type { Alert, AlertContext, AlertGroup } from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { BEHIND_QUERY, FRESH_QUERY, grafanaField } from "./grafana-text.ts";
import { runbookUrl, yamlFile } from "./prometheus-rules.ts";
import { PAIR, perTarget } from "./promql.ts";
import { dashboardUrl, type Field, type Text, writeText } from "./text.ts";
import { durationMs } from "./time-scale.ts";

/** Uid of the data source in a Grafana that is provisioned as in deploy/. */
const DATASOURCE_UID = "prometheus";

const ALERTS_QUERY = "A";
const CONDITION = "D";

/** How often Grafana evaluates the rules, in minutes. */
const EVERY_MINUTES = 1;

/** Values that no query of ours has: nothing is wrong, and nothing is known. */
const NO_ALERT = -2;
const UNKNOWN = -1;

/** dashboards/grafana-alerts/rules.yml: the same alerts, evaluated by Grafana 12.1.2 or later. */
export function renderGrafanaAlerts(context: AlertContext): string {
  return yamlFile("The alerts of Synclag as Grafana's own, for those who have no Alertmanager.", {
    apiVersion: 1,
    groups: allAlerts(context).map((group) => ({
      orgId: 1,
      name: group.name,
      folder: "Synclag",
      interval: `${EVERY_MINUTES}m`,
      rules: group.alerts.map((alert) => alertRule(alert, group, context)),
    })),
  });
}

function alertRule(alert: Alert, group: AlertGroup, context: AlertContext): object {
  const write = (text: Text): string => writeText(text, grafanaField);
  return {
    uid: uidOf(alert),
    title: titleOf(alert, group.alerts),
    condition: CONDITION,
    data: [...grafanaQueries(alert).map(instantQuery), condition()].map((query) => asData(query.build())),
    // No query is ever empty (`orElse`): this is for a data source that returns nothing at all.
    noDataState: "OK",
    execErrState: "KeepLast",
    for: alert.for ?? "0s",
    ...(alert.keepFiringFor === null ? {} : { keepFiringFor: alert.keepFiringFor }),
    // `keepFiringFor` does not hold for a series that is gone, and most expressions lose theirs when they resolve.
    missing_series_evals_to_resolve: evaluationsIn(alert.keepFiringFor),
    labels: { severity: alert.severity, about: alert.about, alert: alert.name },
    annotations: {
      summary: write(alert.summary),
      description: write(alert.description).trim(),
      runbook_url: runbookUrl(alert, context),
      dashboard_url: write(dashboardUrl(alert.dashboard, context.settings)),
    },
  };
}

/** Two rules of one name need two titles in a folder: the one that pages has the name. */
function titleOf({ name, severity }: Alert, all: readonly Alert[]): string {
  const pages = all.some((other) => other.name === name && other.severity === "critical");
  return pages && severity !== "critical" ? `${name} (${severity})` : name;
}

/** At most forty characters, and the same for ever: Grafana keeps a rule's past under it. */
function uidOf({ name, severity }: Alert): string {
  return `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-")}-${severity}`.toLowerCase();
}

/** Without the functions that mark the kind of a query. */
function asData(query: object): unknown {
  return JSON.parse(JSON.stringify(query));
}

/** At least one: Grafana allows no zero. */
function evaluationsIn(duration: string | null): number {
  return duration === null ? 1 : durationMs(duration) / (EVERY_MINUTES * 60_000);
}

/** What a rule asks of Prometheus: its alerts, and what its texts need beside them. */
export function grafanaQueries({ expr, description }: Alert): readonly GrafanaQuery[] {
  const uses = (kind: Field["kind"]): boolean =>
    description.some((part) => typeof part !== "string" && part.kind === kind);
  const lag = perTarget("synclag_lag_seconds");
  const preferred = `max by (${PAIR}) (synclag_preferred)`;
  return [
    { refId: ALERTS_QUERY, expr: orElse(expr, NO_ALERT) },
    ...(uses("behind") ? [{ refId: BEHIND_QUERY, expr: orElse(lag, UNKNOWN) }] : []),
    ...(uses("fresh") ? [{ refId: FRESH_QUERY, expr: orElse(preferred, 0) }] : []),
  ];
}

interface GrafanaQuery {
  readonly refId: string;
  readonly expr: string;
}

/**
 * One series without labels where the expression returns none: for Grafana, one empty query makes the whole rule "no
 * data", whatever the others return.
 */
function orElse(expr: string, value: number): string {
  return `${expr}\nor on ()\n  vector(${value})`;
}

function instantQuery({ refId, expr }: GrafanaQuery): QueryBuilder {
  return new QueryBuilder(refId)
    .datasourceUid(DATASOURCE_UID)
    .relativeTimeRange({ from: 600, to: 0 })
    .model(new DataqueryBuilder().refId(refId).expr(expr).instant());
}

/** Every series of the alert's expression is an alert, whatever its value; none of them is negative. */
function condition(): QueryBuilder {
  const threshold = new TypeThresholdBuilder()
    .refId(CONDITION)
    .expression(ALERTS_QUERY)
    .conditions([{ evaluator: { type: "gt", params: [-1] } }]);
  return new QueryBuilder(CONDITION)
    .datasourceUid("__expr__")
    .relativeTimeRange({ from: 0, to: 0 })
    .model(threshold);
}
