/** The shapes of a message; docs/NOTIFY.md has an example of each. */
export const NOTIFY_FORMATS = ["json", "slack", "discord", "telegram", "text"] as const;

export type NotifyFormat = (typeof NOTIFY_FORMATS)[number];

/** The incidents about which messages are sent, and when. */
export interface NotifyRules {
  /** How long there is trouble before a message is sent, unless it affects many. */
  readonly afterMs: number;
  /** Null: all. */
  readonly protocols: readonly string[] | null;
  /** Null: all. */
  readonly tiers: readonly string[] | null;
  /** The least severity. */
  readonly severity: "warning" | "critical";
}
