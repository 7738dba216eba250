/** Addresses of the other tools on call uses; null: not configured. No slash at the end. */
export interface Links {
  readonly alertmanager: string | null;
  readonly grafana: string | null;
  /** The folder of the runbooks; null: Synclag's own pages. */
  readonly runbooks: string | null;
}

/** What of a fleet anybody may see. */
export interface PublicView {
  /** Null: all. */
  readonly protocols: readonly string[] | null;
  readonly title: string;
  /** An announcement; null: none. */
  readonly notice: string | null;
}
