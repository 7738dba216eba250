/** Settings of a team, from which rules and dashboards are rendered. */
export interface Settings {
  /** Address of docs/runbooks/, the beginning of `runbook_url`: by default the pages of this Synclag. */
  readonly runbooksUrl: string;
  /** Address of Grafana, the beginning of `dashboard_url`. */
  readonly grafanaUrl: string;
  /** Address of this Synclag's own page, the beginning of `page_url`. */
  readonly synclagUrl: string;
  /** Which series the rules read, where one Prometheus scrapes several Synclags: `job="synclag"` or `cluster="eu"`. */
  readonly selector: string;
  /** The most urgent severity of an alert about a testnet. */
  readonly testnets: "critical" | "warning";
  /**
   * Share of the time in which a protocol on a chain must have a fresh variant in the tier that users are served from. Fresh means
   * within `thresholds.lagging` of chains.yaml, 10 min by default, which a chain may override.
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
