import type { Endpoint } from "../core/model/fleet.ts";
import type { BudgetReport } from "../core/model/report.ts";
import type { Grant } from "./grant.ts";
import type { Use } from "./ledger.ts";

/** What every request passes before it is sent: its count is in the state file, or in the store that several processes share. */
export interface BudgetGate {
  /** Counts a request, or says why it must not be sent. A request is counted for good when this settles, and sent only then. */
  readonly acquire: (endpoint: Endpoint, use: Use) => Promise<Grant>;
  /** The provider refused this endpoint. `retryAfterMs`: how long it asks us to wait; null where it did not say. */
  readonly backOff: (endpoint: Endpoint, retryAfterMs: number | null) => void;
  /** The provider answered this endpoint without a refusal. */
  readonly accept: (endpoint: Endpoint) => void;
  /** After a start or a reload by a person: each back-off that is still under way may be probed once. */
  readonly allowProbes: () => void;
  /** One report for each account of the fleet, in the order of its budgets and endpoints. */
  readonly report: () => readonly BudgetReport[];
}
