import type { Settings } from "./settings.ts";
import { type DashboardLink, label, type Text, writeText } from "./text.ts";
import type { TimeScale } from "./time-scale.ts";

/**
 * `critical` pages, `warning` opens a ticket, `none` never reaches a person. `served`: pages where users are served from it, which
 * is the production tier on a mainnet, and is a ticket elsewhere; the labels of the alert decide.
 */
type Severity = "critical" | "warning" | "none" | "served";

/** One alerting rule, independent of a file format. Two rules of one name differ in severity. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** `fleet`: an indexer, chain or budget; `synclag`: Synclag itself. Inhibition in Alertmanager uses it. */
  readonly about: "fleet" | "synclag";
  /** PromQL, without the selector of the settings. Every series that it returns is an alert. */
  readonly expr: string;
  /** How long the expression must hold; null: fires at once. A status is stable by itself: a change takes two polls or more. */
  readonly for: string | null;
  /** How long it keeps firing after the expression, so that a failed scrape does not resolve it. */
  readonly keepFiringFor: string | null;
  readonly summary: Text;
  /** What is wrong with which indexer, since when, and whether there is a healthy alternative. */
  readonly description: Text;
  /** What to do first, as an instruction. */
  readonly first: string | Text;
  /** Whether Synclag may not answer then: its own pages, and its runbooks unless they are elsewhere, cannot be read. */
  readonly isUnanswered?: boolean;
  readonly dashboard: DashboardLink;
}

/** A group of rules, evaluated together. */
export interface AlertGroup {
  readonly name: string;
  /** How often they are evaluated; absent: as often as Prometheus is configured to. */
  readonly interval?: string;
  readonly alerts: readonly Alert[];
}

/** What the alerts are rendered from. */
export interface AlertContext {
  readonly settings: Settings;
  readonly time: TimeScale;
}

/** Bridges a restart of Synclag or a few failed scrapes. */
export const BRIDGE = "5m";

/** The description and what to do first. */
export function descriptionOf({ description, first }: Alert): Text {
  return [...description, " First: ", ...[first].flat()];
}

/** An alert whose texts begin with the name of what it is about. */
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
 * The links of an alert: its runbook, its dashboard, and what it is about on the pages of this Synclag. Where Synclag does not answer
 * none of them leads to it.
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

/** The page about what a summary names: a target or a protocol on the page of its chain, which unfolds it, or the fleet filtered by an indexer. */
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

/** The label `severity`, as a template where the labels of the alert decide. `labels` is what the format calls these. */
export function severityLabel({ severity }: Alert, { testnets }: Settings, labels: string): string {
  if (severity !== "served") {
    return severity;
  }
  const isElsewhere = `and ${labels}.tier (ne ${labels}.tier "production")`;
  const isTestnet = `eq ${labels}.testnet "true"`;
  const isTicket = testnets === "warning" ? `or (${isTestnet}) (${isElsewhere})` : isElsewhere;
  return `{{ if ${isTicket} }}warning{{ else }}critical{{ end }}`;
}
