/** The settings with which rules and dashboards are rendered. */
export interface Settings {
  /** URL of docs/runbooks/, with which `runbook_url` begins. Default: the pages of this Synclag. */
  readonly runbooksUrl: string;
  /** URL of Grafana, with which `dashboard_url` begins. */
  readonly grafanaUrl: string;
  /** URL of this Synclag's own page, with which `page_url` begins. */
  readonly synclagUrl: string;
  /** Selects the series that the rules read if a Prometheus scrapes several Synclags, such as `job="synclag"` or `cluster="eu"`. */
  readonly selector: string;
  /** The highest severity of an alert about a testnet. */
  readonly testnets: "critical" | "warning";
  /**
   * The share of time in which a pair must have a fresh variant in the tier that serves its users. A variant is fresh if its lag is
   * within `thresholds.lagging` of chains.yaml (default: 10 min).
   */
  readonly objective: number;
}

const SYNCLAG_URL = "http://localhost:9855";

export const SETTINGS: Settings = {
  runbooksUrl: `${SYNCLAG_URL}/docs/runbooks`,
  grafanaUrl: "http://localhost:3000",
  synclagUrl: SYNCLAG_URL,
  selector: 'job=~".*"',
  testnets: "warning",
  objective: 0.995,
};
