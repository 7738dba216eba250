/** Where else the people who watch a fleet work; null: not configured. Without a slash at the end. */
export interface Links {
  readonly alertmanager: string | null;
  readonly grafana: string | null;
}
