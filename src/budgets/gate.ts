import type { Endpoint } from "../core/model/fleet.ts";
import { type Budgets, type Grant, refusedByUs } from "./budgets.ts";
import type { Use } from "./ledger.ts";

/** The budgets of a fleet, and where their counts are recorded: the state file, or the store that several processes share. */
export interface BudgetRecord {
  readonly budgets: Budgets;
  /** The clock of the budgets. */
  readonly nowMs: () => number;
  /** Why nothing can be recorded now, or null. */
  readonly problem: () => string | null;
  /** Waits until all that was counted is recorded. @throws If it is not. */
  readonly flush: () => Promise<void>;
  /** A provider refused a request: that is to be recorded soon. */
  readonly touchJournal: () => void;
  /** Whether a scheduled request may be sent without a record, because the last record allowed it in advance. Default: never. */
  readonly useAdvance?: (endpoint: Endpoint) => boolean;
}

/** What every request passes before it is sent. */
export type BudgetGate = ReturnType<typeof createBudgetGate>;

/**
 * Counts requests before they are sent: a crash may lose a request, but never its count. What cannot be recorded is not sent. An
 * endpoint without a budget does not wait.
 */
export function createBudgetGate(record: BudgetRecord, random: () => number) {
  const { budgets, nowMs } = record;
  return {
    /** Counts a request, or says why it must not be sent. It is counted for good when this settles, and sent only then. */
    acquire: async (endpoint: Endpoint, use: Use): Promise<Grant> =>
      endpoint.budget === null
        ? budgets.acquire(endpoint, use, nowMs())
        : await acquireRecorded(endpoint, use, record),

    /** The provider refused this endpoint. `retryAfterMs`: how long it asks us to wait; null where it did not say. */
    backOff(endpoint: Endpoint, retryAfterMs: number | null) {
      const refusedMs = nowMs();
      const untilMs = retryAfterMs === null ? null : refusedMs + retryAfterMs;
      budgets.backOff(endpoint, { nowMs: refusedMs, untilMs, random: random() });
      record.touchJournal();
    },

    /** The provider answered this endpoint without a refusal. */
    accept: (endpoint: Endpoint) => budgets.accept(endpoint, nowMs()),

    /** After a start or a reload by a person: each back-off that is still under way may be probed once. */
    allowProbes: () => budgets.allowProbes(nowMs()),

    /** One report for each account of the fleet, in the order of its budgets and endpoints. */
    report: () => budgets.report(nowMs()),
  };
}

async function acquireRecorded(endpoint: Endpoint, use: Use, record: BudgetRecord): Promise<Grant> {
  const problem = record.problem();
  if (problem !== null) {
    return refusedUnrecorded(problem);
  }
  const grant = record.budgets.acquire(endpoint, use, record.nowMs());
  if (grant.kind === "refused") {
    return grant;
  }
  try {
    await record.flush();
    return grant;
  } catch (error) {
    return use === "scheduled" && record.useAdvance?.(endpoint) === true
      ? grant
      : refusedUnrecorded(error instanceof Error ? error.message : String(error));
  }
}

function refusedUnrecorded(why: string): Grant {
  return refusedByUs(`cannot record budget usage: ${why}`);
}
