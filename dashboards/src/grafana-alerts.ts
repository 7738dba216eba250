import {
  type Alert,
  type AlertContext,
  type AlertGroup,
  annotationsOf,
  descriptionOf,
  severityLabel,
} from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { FIELD_QUERIES, grafanaField } from "./grafana-text.ts";
import { yamlFile } from "./prometheus-rules.ts";
import { selected } from "./promql.ts";
import { durationMs } from "./time-scale.ts";

/** The uid of the data source in deploy/grafana. */
const DATASOURCE_UID = "prometheus";

const ALERTS_QUERY = "A";
const CONDITION = "D";

/** Evaluation interval in minutes. */
const EVERY_MINUTES = 1;

/** The value of a query that finds no alert. Values of alerts are never negative. */
const NO_ALERT = -2;

/**
 * The condition: every series with a value that is not negative is an alert. Each rule gets an object of its own, because YAML
 * would write an alias for a shared one.
 */
const alertCondition = () => ({
  refId: CONDITION,
  datasourceUid: "__expr__",
  relativeTimeRange: { from: 0, to: 0 },
  model: {
    conditions: [{ evaluator: { type: "gt", params: [-1] } }],
    expression: ALERTS_QUERY,
    type: "threshold",
    refId: CONDITION,
  },
});

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

function alertRule(alert: Alert, group: AlertGroup, { settings }: AlertContext): object {
  const queries = grafanaQueries(alert).map(({ refId, expr }) => ({
    refId,
    datasourceUid: DATASOURCE_UID,
    relativeTimeRange: { from: 600, to: 0 },
    model: { expr: selected(expr, settings.selector), refId, instant: true, range: false },
  }));
  return {
    uid: uidOf(alert),
    title: titleOf(alert, group.alerts),
    condition: CONDITION,
    data: [...queries, alertCondition()],
    // This case does not occur, because `orElse` makes sure that no query is empty.
    noDataState: "OK",
    execErrState: "KeepLast",
    for: alert.for ?? "0s",
    ...(alert.keepFiringFor === null ? {} : { keepFiringFor: alert.keepFiringFor }),
    // `keepFiringFor` does not apply to series that disappear, which is how most of these alerts resolve.
    missing_series_evals_to_resolve: evaluationsIn(alert.keepFiringFor),
    labels: { severity: severityLabel(alert, settings, ".Labels"), about: alert.about, alert: alert.name },
    annotations: annotationsOf(alert, settings, grafanaField),
  };
}

/** The title of a rule, unique in its folder. If two rules have the same name, all but the critical one add their severity. */
function titleOf({ name, severity }: Alert, all: readonly Alert[]): string {
  const isAlone = all.filter((other) => other.name === name).length === 1;
  return isAlone || severity === "critical" ? name : `${name} (${severity})`;
}

/** The uid of a rule, at most forty characters long. It must not change: Grafana keeps the history of a rule by its uid. */
function uidOf({ name, severity }: Alert): string {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-");
  return `${words}-${severity === "byLabels" ? "critical" : severity}`.toLowerCase().slice(0, 40);
}

/** The number of evaluations in a duration; 1 without a duration, because Grafana rejects 0. */
function evaluationsIn(duration: string | null): number {
  return duration === null ? 1 : durationMs(duration) / (EVERY_MINUTES * 60_000);
}

/** The Prometheus queries of a rule, without the selector: the first finds its alerts, the others fill in its texts. */
export function grafanaQueries(alert: Alert): readonly GrafanaQuery[] {
  const kinds = new Set(descriptionOf(alert).map((part) => (typeof part === "string" ? null : part.kind)));
  const further = [...kinds].flatMap((kind) => (kind === null ? [] : (FIELD_QUERIES[kind] ?? [])));
  return [
    { refId: ALERTS_QUERY, expr: orElse(alert.expr, NO_ALERT) },
    ...further.map(({ refId, expr, unknown }) => ({ refId, expr: orElse(expr, unknown) })),
  ];
}

interface GrafanaQuery {
  readonly refId: string;
  readonly expr: string;
}

/**
 * The expression, with one series without labels in place of an empty result: in Grafana, one empty query sets the whole rule to
 * "no data".
 */
function orElse(expr: string, value: number): string {
  return `${expr}\nor on ()\n  vector(${value})`;
}
