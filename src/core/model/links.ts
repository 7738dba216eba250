/** Where else the people who watch a fleet work; null: not configured. Without a slash at the end. */
export interface Links {
  readonly alertmanager: string | null;
  readonly grafana: string | null;
  /** The folder of the runbooks; null: those that Synclag serves. */
  readonly runbooks: string | null;
}

/** What of a fleet anybody may see. */
export interface PublicView {
  /** Null: all. */
  readonly protocols: readonly string[] | null;
  readonly title: string;
}
