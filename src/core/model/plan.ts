import type { Budget, SkippedIndexer } from "./fleet.ts";

/**
 * The polling schedule and the budget usage that follow from a configuration: what `synclag plan --format json` prints, with
 * names and units as in the API.
 */
export interface Plan {
  /** In the order of the file, the RPC nodes last. */
  readonly indexers: readonly PlanRow[];
  /** The budgets that any endpoint uses. */
  readonly budgets: readonly PlannedBudget[];
  readonly totals: { readonly endpoints: number; readonly requests_per_day: number };
  readonly skipped: readonly SkippedIndexer[];
}

/** The endpoints of one indexer that share a schedule and a budget. */
export interface PlanRow {
  /** Empty for RPC nodes. */
  readonly protocol: string;
  /** `rpc` for RPC nodes. */
  readonly variant: string;
  /** Empty for RPC nodes. */
  readonly tier: string;
  readonly endpoints: number;
  /** The names of its endpoints: the slugs of chains, or `all`. */
  readonly names: readonly string[];
  /** node-cron expression, seconds first. */
  readonly schedule: string;
  /** The longest time between two polls. */
  readonly interval_seconds: number;
  /** The requests of all its endpoints on a day on which the schedule fires; with those of probes, without retries. */
  readonly requests_per_day: number;
  /** The name of its budget, or null. */
  readonly budget: string | null;
  /**
   * The share of the budget that these endpoints use, from 0 to 1; if each URL has its own budget, the share of the busiest URL;
   * null without a budget.
   */
  readonly share: number | null;
  readonly probes: readonly PlannedProbe[];
}

/** A probe, and how often the polls send its query to each target. */
export interface PlannedProbe {
  readonly probe: string;
  readonly every_seconds: number;
  /** Requests for the probe alone; 0 if the polls carry its query. Only what the budget can spare is sent. */
  readonly requests_per_day: number;
}

/** What the schedules use of one budget. */
export interface PlannedBudget extends Omit<Budget, "name"> {
  /** Its name. */
  readonly budget: string;
  readonly endpoints: number;
  /** Requests in one window: of all endpoints for a shared budget, else of the URL that is polled most. */
  readonly requests: number;
  /** `requests` as a share of the limit, from 0 to 1. */
  readonly share: number;
}
