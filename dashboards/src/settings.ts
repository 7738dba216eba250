/** What a team may want otherwise. Change it here, then `npm run generate`. */
export interface Settings {
  /** Where Grafana is: what `dashboard_url` begins with. */
  readonly grafanaUrl: string;
  /** Where docs/runbooks/ is published: what `runbook_url` begins with. Synclag itself serves it there, too. */
  readonly runbooksUrl: string;
  /**
   * Share of the time in which a protocol on a chain must have a fresh variant, in the tier that users are served from. How old data may be to be fresh is
   * said in chains.yaml: `thresholds.lagging`, 10 min by default, which a chain may override.
   */
  readonly objective: number;
  /** The tier that users are served from: what is wrong there pages, elsewhere it opens a ticket. */
  readonly servingTier: string;
}

export const SETTINGS: Settings = {
  grafanaUrl: "http://localhost:3000",
  runbooksUrl: "http://localhost:9855/docs/runbooks",
  objective: 0.995,
  servingTier: "production",
};
