/** Addresses of the other tools that people on call use, without a slash at the end; null: not configured. */
export interface Links {
  readonly alertmanager: string | null;
  readonly grafana: string | null;
  /** The folder of the runbooks; null: Synclag's own pages. */
  readonly runbooks: string | null;
}

/** The part of a fleet that everybody may see. */
export interface PublicView {
  /** Null: all. */
  readonly protocols: readonly string[] | null;
  readonly title: string;
  /** An announcement; null: none. */
  readonly notice: string | null;
}
