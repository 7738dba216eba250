import type { Endpoint } from "../core/model/fleet.ts";
import type { BudgetReport } from "../core/model/report.ts";
import type { Budgets } from "./budgets.ts";
import { type Grant, refusedUnrecorded } from "./grant.ts";
import type { Use } from "./ledger.ts";

/** What every request passes before it is sent. */
export interface BudgetGate {
  /** Counts a request, or says why it must not be sent. It is counted for good when this settles, and sent only then. */
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

/** Where counts are recorded: the state file, or the store that several processes share. */
export interface BudgetRecord {
  /** Why nothing can be recorded now, or null. */
  readonly problem: () => string | null;
  /** Waits until all that was counted is recorded. @throws If it is not. */
  readonly flush: () => Promise<void>;
  /** A provider refused a request: that is to be recorded soon. */
  readonly touchJournal: () => void;
  /** Whether a scheduled request may be sent though it is not recorded: one that the record allowed in advance. Default: none may. */
  readonly useAdvance?: (endpoint: Endpoint) => boolean;
}

interface GateSource {
  readonly budgets: Budgets;
  /** The clock of the budgets. */
  readonly nowMs: () => number;
  readonly record: BudgetRecord;
  readonly random: () => number;
}

/**
 * Counts requests before they are sent: a crash may lose a request, but never its count. What cannot be recorded is not sent. An
 * endpoint without a budget does not wait.
 */
export function createBudgetGate(source: GateSource): BudgetGate {
  const { budgets, nowMs, record, random } = source;
  return {
    acquire: async (endpoint, use) =>
      endpoint.budget === null
        ? budgets.acquire(endpoint, use, nowMs())
        : await acquireRecorded(endpoint, use, source),
    backOff(endpoint, retryAfterMs) {
      const refusedMs = nowMs();
      const untilMs = retryAfterMs === null ? null : refusedMs + retryAfterMs;
      budgets.backOff(endpoint, { nowMs: refusedMs, untilMs, random: random() });
      record.touchJournal();
    },
    accept: (endpoint) => budgets.accept(endpoint, nowMs()),
    allowProbes: () => budgets.allowProbes(nowMs()),
    report: () => budgets.report(nowMs()),
  };
}

async function acquireRecorded(endpoint: Endpoint, use: Use, source: GateSource): Promise<Grant> {
  const { budgets, nowMs, record } = source;
  const problem = record.problem();
  if (problem !== null) {
    return refusedUnrecorded(problem);
  }
  const grant = budgets.acquire(endpoint, use, nowMs());
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
