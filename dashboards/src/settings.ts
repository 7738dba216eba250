/** Settings that a team may want to change, followed by `npm run generate`. */
export interface Settings {
  /** Address of Grafana, the beginning of `dashboard_url`. */
  readonly grafanaUrl: string;
  /** Address of docs/runbooks/, the beginning of `runbook_url`. Synclag itself serves them at this path. */
  readonly runbooksUrl: string;
  /**
   * Share of the time in which a protocol on a chain must have a fresh variant in the tier that users are served from. Fresh means
   * within `thresholds.lagging` of chains.yaml, 10 min by default, which a chain may override.
   */
  readonly objective: number;
  /** The tier that users are served from: problems there page, those of other tiers open a ticket. */
  readonly servingTier: string;
}

export const SETTINGS: Settings = {
  grafanaUrl: "http://localhost:3000",
  runbooksUrl: "http://localhost:9855/docs/runbooks",
  objective: 0.995,
  servingTier: "production",
};
