import { stringify } from "yaml";
import { type Alert, type AlertContext, annotationsOf, severityLabel } from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { freshnessRecordings } from "./freshness.ts";
import { prometheusField } from "./prometheus-text.ts";
import { selected } from "./promql.ts";

const DO_NOT_EDIT = "Generated from dashboards/src by `npm run generate`: do not edit.";

/** dashboards/rules/synclag-alerts.yml, in the format of Prometheus 2.42 and later. */
export function renderAlertRules(context: AlertContext): string {
  const groups = allAlerts(context).map(({ name, interval, alerts }) => ({
    name,
    ...(interval === undefined ? {} : { interval }),
    rules: alerts.map((alert) => alertRule(alert, context)),
  }));
  return yamlFile("Alerts of Synclag. A critical alert pages somebody, a warning opens a ticket.", {
    groups,
  });
}

/** dashboards/rules/synclag-recording.yml: the freshness that two alerts and the dashboards use. */
export function renderRecordingRules(context: AlertContext): string {
  const groups = freshnessRecordings(context).map(({ name, interval, recordings }) => ({
    name,
    interval,
    rules: recordings.map(({ record, expr }) => ({
      record,
      expr: selected(expr, context.settings.selector),
    })),
  }));
  return yamlFile("Freshness of each protocol and of the fleet, now and over time.", { groups });
}

/** A YAML file with a header that says how it is generated. By default, strings are quoted only where YAML needs it. */
export function yamlFile(
  title: string,
  content: unknown,
  defaultStringType: "PLAIN" | "QUOTE_DOUBLE" = "PLAIN",
): string {
  const text = stringify(content, {
    lineWidth: 0,
    defaultStringType,
    defaultKeyType: "PLAIN",
    blockQuote: "literal",
    // In double quotes the selector would be escaped, and `synclag export` and the chart could not find and replace it.
    singleQuote: defaultStringType === "PLAIN" ? true : null,
  });
  return `# ${title}\n# ${DO_NOT_EDIT}\n${text}`;
}

function alertRule(alert: Alert, { settings, time }: AlertContext): object {
  return {
    alert: alert.name,
    expr: selected(alert.expr, settings.selector),
    ...(alert.for === null ? {} : { for: time(alert.for) }),
    ...(alert.keepFiringFor === null ? {} : { keep_firing_for: time(alert.keepFiringFor) }),
    labels: { severity: severityLabel(alert, settings, "$labels"), about: alert.about },
    annotations: annotationsOf(alert, settings, prometheusField(settings.selector)),
  };
}
