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

/** Evaluation interval in minutes. */
const EVERY_MINUTES = 1;

/** Values that no query returns otherwise: no alert, and lag unknown. */
const NO_ALERT = -2;
const UNKNOWN = -1;

/** dashboards/grafana-alerts/rules.yml: the same alerts for Grafana 12.1.2 or later. */
export function renderGrafanaAlerts(context: AlertContext): string {
  return yamlFile("The alerts of Synclag as Grafana-managed rules, for installations without Alertmanager.", {
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
    // Does not occur: `orElse` keeps every query from being empty.
    noDataState: "OK",
    execErrState: "KeepLast",
    for: alert.for ?? "0s",
    ...(alert.keepFiringFor === null ? {} : { keepFiringFor: alert.keepFiringFor }),
    // `keepFiringFor` does not apply to series that disappear, which is how most of these alerts resolve.
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

/** Two rules of one name need two titles in a folder; the one that pages has the plain name. */
function titleOf({ name, severity }: Alert, all: readonly Alert[]): string {
  const pages = all.some((other) => other.name === name && other.severity === "critical");
  return pages && severity !== "critical" ? `${name} (${severity})` : name;
}

/** At most forty characters. Must not change: Grafana keeps the history of a rule under it. */
function uidOf({ name, severity }: Alert): string {
  return `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-")}-${severity}`.toLowerCase();
}

/** The plain data of a query object, without its functions. */
function asData(query: object): unknown {
  return JSON.parse(JSON.stringify(query));
}

/** Number of evaluations in a duration; at least 1, since Grafana rejects 0. */
function evaluationsIn(duration: string | null): number {
  return duration === null ? 1 : durationMs(duration) / (EVERY_MINUTES * 60_000);
}

/** The Prometheus queries of a rule: its alerts, and the data that only its texts need. */
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
 * An expression that returns one series without labels where it would return nothing: in Grafana a single empty query makes the
 * whole rule "no data".
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

/** Every series of the alert's expression is an alert; its value is never negative. */
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
