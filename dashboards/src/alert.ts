import type { Settings } from "./settings.ts";
import type { DashboardLink, Text } from "./text.ts";
import type { TimeScale } from "./time-scale.ts";

/** `critical` pages, `warning` opens a ticket, `info` is for the record; `none` never reaches a person. */
type Severity = "critical" | "warning" | "info" | "none";

/** One alerting rule, before anybody's file format. Two rules of one name differ in their severity. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** `fleet`: an indexer, chain or budget; `synclag`: the watcher itself. Alertmanager's inhibition goes by it. */
  readonly about: "fleet" | "synclag";
  /** PromQL: every series that it returns is an alert. */
  readonly expr: string;
  /** How long it must hold; null: at once. Statuses are steady by themselves: each takes two polls or more. */
  readonly for: string | null;
  /** How long it stays after its expression has ended, so that a failed scrape is no all-clear. */
  readonly keepFiringFor: string | null;
  readonly summary: Text;
  readonly description: Text;
  readonly dashboard: DashboardLink;
}

/** A part of the rules, evaluated together. */
export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** What the alerts are made from. */
export interface AlertContext {
  readonly settings: Settings;
  readonly time: TimeScale;
}

/** Bridges the restart of a Synclag, or a few failed scrapes. */
export const BRIDGE = "5m";
