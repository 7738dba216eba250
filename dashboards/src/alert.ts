import type { Settings } from "./settings.ts";
import { type DashboardLink, label, type Text, writeText } from "./text.ts";
import type { TimeScale } from "./time-scale.ts";

/**
 * `critical` pages, `warning` opens a ticket, `none` never reaches a person. `byLabels` is `warning` for a testnet, and
 * for a tier other than production; else `critical`.
 */
type Severity = "critical" | "warning" | "none" | "byLabels";

/** One alerting rule, independent of a file format. Rules with the same name differ in severity. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** `fleet`: an indexer, chain or budget; `synclag`: Synclag itself. Inhibition in Alertmanager uses it. */
  readonly about: "fleet" | "synclag";
  /** PromQL, without the selector of the settings. Every series that it returns is an alert. */
  readonly expr: string;
  /** How long the expression must hold; null: the alert fires at once. */
  readonly for: string | null;
  /** How long the alert keeps firing after the expression has ended, so that a failed scrape does not resolve it. */
  readonly keepFiringFor: string | null;
  readonly summary: Text;
  /** What is wrong with which indexer, since when, and whether there is a healthy alternative. */
  readonly description: Text;
  /** What to do first, as an instruction. */
  readonly first: string | Text;
  /** Whether Synclag may be down while the alert fires. Then its pages, with the runbooks, cannot be read. */
  readonly isUnanswered?: boolean;
  readonly dashboard: DashboardLink;
}

/** A group of rules, evaluated together. */
export interface AlertGroup {
  readonly name: string;
  /** How often the rules are evaluated; absent: as Prometheus is configured. */
  readonly interval?: string;
  readonly alerts: readonly Alert[];
}

/** The settings and the time scale with which alerts are rendered. */
export interface AlertContext {
  readonly settings: Settings;
  readonly time: TimeScale;
}

/** Alerts keep firing this long, through a restart of Synclag or a few failed scrapes. */
export const KEEP_FIRING = "5m";

/** The description and what to do first. */
export function descriptionOf({ description, first }: Alert): Text {
  return [...description, " First: ", ...[first].flat()];
}

/** An alert whose texts begin with a name, such as that of its target. */
export function named(
  name: Text,
  {
    summary,
    description,
    ...alert
  }: Omit<Alert, "summary" | "description"> & {
    readonly [name in "summary" | "description"]: string | Text;
  },
): Alert {
  return { ...alert, summary: [name, summary].flat(), description: [name, description].flat() };
}

/** Where the runbooks are in the repository and in the package. */
export const RUNBOOKS_FOLDER = "docs/runbooks";

/**
 * The links of an alert: to its runbook, its dashboard, and its subject on the pages of this Synclag. If Synclag may be down, no
 * link leads to its pages.
 */
function linksOf(
  { name, dashboard, isUnanswered = false, summary }: Alert,
  { runbooksUrl, grafanaUrl, synclagUrl }: Settings,
) {
  const variables = dashboard.variables.flatMap((variable, index): Text => {
    return [`${index === 0 ? "?" : "&"}var-${variable}=`, { kind: "label", name: variable }];
  });
  const isLost = isUnanswered && runbooksUrl.startsWith(synclagUrl);
  return {
    runbook_url: [`${isLost ? RUNBOOKS_FOLDER : runbooksUrl}/${name}.md`],
    dashboard_url: [`${grafanaUrl}/d/${dashboard.uid}`, ...variables],
    ...(isUnanswered ? {} : { page_url: [synclagUrl, ...pageOf(summary)] }),
  } satisfies Readonly<Record<string, Text>>;
}

/** The page of the chain that a summary names, at its target or protocol. Without a chain: the fleet, filtered by the indexer. */
function pageOf(summary: Text): Text {
  const isNamed = (name: string) =>
    summary.some((part) => typeof part !== "string" && part.kind === "label" && part.name === name);
  const join = (separator: string) =>
    ["protocol", "variant", "tier"]
      .filter(isNamed)
      .flatMap((name, index): Text => [index === 0 ? "" : separator, label(name)]);
  const anchor = isNamed("variant") ? ["#", ...join("-")] : ["#pair-", label("protocol")];
  if (isNamed("chain")) {
    return ["/chains/", label("chain"), ...(isNamed("protocol") ? anchor : [])];
  }
  return isNamed("protocol") ? ["/?q=", ...join("+")] : ["/"];
}

/** The texts of an alert by the names of its annotations. */
export function annotationsOf(
  alert: Alert,
  settings: Settings,
  write: Parameters<typeof writeText>[1],
): Readonly<Record<string, string>> {
  const texts = { summary: alert.summary, description: descriptionOf(alert), ...linksOf(alert, settings) };
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, writeText(text, write).trim()]),
  );
}

/** The value of the label `severity`, which may be a template. `labels`: the variable of the template for the labels of the alert. */
export function severityLabel({ severity }: Alert, { testnets }: Settings, labels: string): string {
  if (severity !== "byLabels") {
    return severity;
  }
  const isElsewhere = `and ${labels}.tier (ne ${labels}.tier "production")`;
  const isTestnet = `eq ${labels}.testnet "true"`;
  const isTicket = testnets === "warning" ? `or (${isTestnet}) (${isElsewhere})` : isElsewhere;
  return `{{ if ${isTicket} }}warning{{ else }}critical{{ end }}`;
}
