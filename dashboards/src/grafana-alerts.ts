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

/** Uid of the data source in a Grafana that is provisioned as in deploy/. */
const DATASOURCE_UID = "prometheus";

const ALERTS_QUERY = "A";
const CONDITION = "D";

/** Evaluation interval in minutes. */
const EVERY_MINUTES = 1;

/** A value that no alert has. */
const NO_ALERT = -2;

/** Every series of the alert's expression is an alert; its value is never negative. An object for each: YAML would refer to a shared one. */
const isAlert = () => ({
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
    data: [...queries, isAlert()],
    // Does not occur: `orElse` keeps every query from being empty.
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

/** Two rules of one name need two titles in a folder; the one that pages has the plain name. */
function titleOf({ name, severity }: Alert, all: readonly Alert[]): string {
  const isAlone = all.filter((other) => other.name === name).length === 1;
  return isAlone || severity === "critical" ? name : `${name} (${severity})`;
}

/** At most forty characters. Must not change: Grafana keeps the history of a rule under it. */
function uidOf({ name, severity }: Alert): string {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-");
  return `${words}-${severity === "served" ? "critical" : severity}`.toLowerCase().slice(0, 40);
}

/** Number of evaluations in a duration; at least 1, since Grafana rejects 0. */
function evaluationsIn(duration: string | null): number {
  return duration === null ? 1 : durationMs(duration) / (EVERY_MINUTES * 60_000);
}

/** The Prometheus queries of a rule, without the selector: its alerts, and the data that only its texts need. */
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
 * An expression that returns one series without labels where it would return nothing: in Grafana a single empty query makes the
 * whole rule "no data".
 */
function orElse(expr: string, value: number): string {
  return `${expr}\nor on ()\n  vector(${value})`;
}
