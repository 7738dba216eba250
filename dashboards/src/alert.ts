import type { Settings } from "./settings.ts";
import type { DashboardLink, Text } from "./text.ts";
import type { TimeScale } from "./time-scale.ts";

/** `critical` pages, `warning` opens a ticket, `info` is only recorded, `none` never reaches a person. */
type Severity = "critical" | "warning" | "info" | "none";

/** One alerting rule, independent of a file format. Two rules of one name differ in severity. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** `fleet`: an indexer, chain or budget; `synclag`: Synclag itself. Inhibition in Alertmanager uses it. */
  readonly about: "fleet" | "synclag";
  /** PromQL. Every series that it returns is an alert. */
  readonly expr: string;
  /** How long the expression must hold; null: fires at once. A status is stable by itself: a change takes two polls or more. */
  readonly for: string | null;
  /** How long it keeps firing after the expression, so that a failed scrape does not resolve it. */
  readonly keepFiringFor: string | null;
  readonly summary: Text;
  readonly description: Text;
  readonly dashboard: DashboardLink;
}

/** A group of rules, evaluated together. */
export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** What the alerts are rendered from. */
export interface AlertContext {
  readonly settings: Settings;
  readonly time: TimeScale;
}

/** Bridges a restart of Synclag or a few failed scrapes. */
export const BRIDGE = "5m";
