import type { Budget, SkippedIndexer } from "./fleet.ts";

/** What is polled how often, and what it costs: worked out from the configuration alone. */
export interface Plan {
  /** In the order of the file, the RPC nodes last. */
  readonly rows: readonly PlanRow[];
  /** What becomes of each budget that something draws on. */
  readonly budgets: readonly PlannedBudget[];
  readonly endpoints: number;
  readonly requestsPerDay: number;
  /** How the times until a fault shows were worked out. */
  readonly basis: FaultBasis;
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
  /** node-cron expression, seconds first. */
  readonly schedule: string;
  /** The longest time between two polls. */
  readonly intervalMs: number;
  /** Of all its endpoints, on a day on which the schedule fires; retries not included. */
  readonly requestsPerDay: number;
  readonly budget: Budget | null;
  /** From 0 to 1: what they take of a shared budget together, or each of its own; null without a budget. */
  readonly share: number | null;
  /** The longest time from a fault to its status. */
  readonly faultShowsMs: number;
}

/** What the schedules ask of one budget. */
export interface PlannedBudget {
  readonly budget: Budget;
  readonly endpoints: number;
  /** In one window: of all for a shared budget, else of the URL that is asked the most. */
  readonly requests: number;
  /** `requests` of the limit, from 0 to 1. */
  readonly share: number;
}

/** The fault that takes longest to show: an endpoint that stops answering just after a poll. */
export interface FaultBasis {
  /** Polls in a row that must fail. */
  readonly polls: number;
  /** How long one of them takes, with all its retries. */
  readonly pollMs: number;
}
