import type { Budgets } from "../../budgets/budgets.ts";
import { savedBudgetsToJson, shiftSavedBudgets } from "../../budgets/snapshot.ts";
import type { SteadyClock } from "../../budgets/steady-clock.ts";
import type { Monitor } from "../monitor.ts";
import type { DialectCache } from "../polling/dialect-cache.ts";
import type { StateSnapshot } from "./store.ts";

/** What a daemon knows, and what must outlive it. */
export interface SnapshotSource {
  readonly monitor: Monitor;
  readonly endpoints: DialectCache;
  readonly budgets: Budgets;
  /** The clock that the budgets go by. */
  readonly clock: SteadyClock;
  readonly nowMs: () => number;
}

/** What of it is written to disk. */
export function takeSnapshot({ monitor, endpoints, budgets, clock, nowMs }: SnapshotSource): StateSnapshot {
  return {
    all() {
      const onWritten = budgets.checkpoint();
      const spent = shiftSavedBudgets(budgets.save(clock.nowMs()), clock.aheadMs());
      const state = {
        savedAtMs: nowMs(),
        ...monitor.save(),
        budgets: savedBudgetsToJson(spent),
        conversations: endpoints.save(),
      };
      return { state, onWritten };
    },
    drawn: () => savedBudgetsToJson(shiftSavedBudgets(budgets.saveDrawn(clock.nowMs()), clock.aheadMs())),
  };
}
