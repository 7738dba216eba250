/** The shapes of a message; docs/NOTIFY.md has an example of each. */
export const NOTIFY_FORMATS = ["json", "slack", "discord", "telegram", "text"] as const;

export type NotifyFormat = (typeof NOTIFY_FORMATS)[number];

/** The incidents about which messages are sent, and when. */
export interface NotifyRules {
  /** How long trouble must last before a message is sent; trouble of many targets is sent at once. */
  readonly afterMs: number;
  /** Null: all. */
  readonly protocols: readonly string[] | null;
  /** Null: all. */
  readonly tiers: readonly string[] | null;
  /** The lowest severity that is sent. */
  readonly severity: "warning" | "critical";
}
