import type { Budgets } from "../../budgets/budgets.ts";
import type { BudgetGate } from "../../budgets/gate.ts";
import { type Grant, refusedUnrecorded } from "../../budgets/grant.ts";
import type { Use } from "../../budgets/ledger.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { StateStore } from "./store.ts";

/**
 * Counts requests in the state file: a crash may lose a request, but never its count. What cannot be recorded is not sent. An
 * endpoint without a budget does not wait.
 */
export function createFileGate(source: FileGateSource): BudgetGate {
  const { budgets, nowMs, random, store } = source;
  return {
    acquire: (endpoint, use) => acquire(endpoint, use, source),
    backOff(endpoint, retryAfterMs) {
      const refusedMs = nowMs();
      const untilMs = retryAfterMs === null ? null : refusedMs + retryAfterMs;
      budgets.backOff(endpoint, { nowMs: refusedMs, untilMs, random: random() });
      store.touchJournal();
    },
    accept: (endpoint) => budgets.accept(endpoint, nowMs()),
    allowProbes: () => budgets.allowProbes(nowMs()),
    report: () => budgets.report(nowMs()),
  };
}

interface FileGateSource {
  readonly budgets: Budgets;
  /** The clock of the budgets. */
  readonly nowMs: () => number;
  readonly store: Pick<StateStore, "problem" | "flush" | "touchJournal">;
  readonly random: () => number;
}

async function acquire(endpoint: Endpoint, use: Use, source: FileGateSource): Promise<Grant> {
  const { budgets, nowMs, store } = source;
  if (endpoint.budget === null) {
    return budgets.acquire(endpoint, use, nowMs());
  }
  const problem = store.problem();
  if (problem !== null) {
    return refusedUnrecorded(problem);
  }
  const grant = budgets.acquire(endpoint, use, nowMs());
  if (grant.kind === "refused") {
    return grant;
  }
  try {
    await store.flush();
    return grant;
  } catch (error) {
    return refusedUnrecorded(error instanceof Error ? error.message : String(error));
  }
}
