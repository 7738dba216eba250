import { stringify } from "yaml";
import type { Alert, AlertContext } from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { freshnessRecordings } from "./freshness.ts";
import { prometheusField } from "./prometheus-text.ts";
import { dashboardUrl, type Text, writeText } from "./text.ts";

const DO_NOT_EDIT = "Generated from dashboards/src by `npm run generate`: do not edit.";

/** dashboards/rules/synclag-alerts.yml, in the format of Prometheus 2.42 and later. */
export function renderAlertRules(context: AlertContext): string {
  const groups = allAlerts(context).map(({ name, alerts }) => ({
    name,
    rules: alerts.map((alert) => alertRule(alert, context)),
  }));
  return yamlFile("Alerts of Synclag: critical pages, warning opens a ticket, info is only recorded.", {
    groups,
  });
}

/** dashboards/rules/synclag-recording.yml: the freshness that two alerts and the dashboards use. */
export function renderRecordingRules(context: AlertContext): string {
  const groups = freshnessRecordings(context).map(({ name, interval, recordings }) => ({
    name,
    interval,
    rules: recordings,
  }));
  return yamlFile("Freshness of each protocol and of the fleet, now and over time.", { groups });
}

/** A YAML file with a header that says how it is generated. Strings are quoted where needed, or everywhere. */
export function yamlFile(
  title: string,
  content: object,
  defaultStringType: "PLAIN" | "QUOTE_DOUBLE" = "PLAIN",
): string {
  const text = stringify(content, {
    lineWidth: 0,
    defaultStringType,
    defaultKeyType: "PLAIN",
    blockQuote: "literal",
  });
  return `# ${title}\n# ${DO_NOT_EDIT}\n${text}`;
}

/** The URL of an alert's runbook. */
export function runbookUrl({ name }: Alert, { settings }: AlertContext): string {
  return `${settings.runbooksUrl}/${name}.md`;
}

function alertRule(alert: Alert, context: AlertContext): object {
  const write = (text: Text): string => writeText(text, prometheusField);
  return {
    alert: alert.name,
    expr: alert.expr,
    ...(alert.for === null ? {} : { for: context.time(alert.for) }),
    ...(alert.keepFiringFor === null ? {} : { keep_firing_for: context.time(alert.keepFiringFor) }),
    labels: { severity: alert.severity, about: alert.about },
    annotations: {
      summary: write(alert.summary),
      description: write(alert.description).trim(),
      runbook_url: runbookUrl(alert, context),
      dashboard_url: write(dashboardUrl(alert.dashboard, context.settings)),
    },
  };
}
