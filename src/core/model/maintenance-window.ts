/** Which targets a maintenance window marks; an absent key matches all. */
export interface MaintenanceMatch {
  readonly protocol?: string;
  readonly variant?: string;
  readonly tier?: string;
  readonly chain?: string;
}

/** Targets inside a window are polled as usual, and marked. */
export type MaintenanceWindow = { readonly match: MaintenanceMatch } & (
  | { readonly kind: "once"; readonly fromMs: number; readonly toMs: number }
  | {
      readonly kind: "recurring";
      /** node-cron expression, seconds first, in UTC: when it opens. */
      readonly schedule: string;
      readonly durationMs: number;
    }
);
