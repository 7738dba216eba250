import type { Budgets } from "../budgets/budgets.ts";
import { savedBudgetsToJson, shiftSavedBudgets } from "../budgets/snapshot.ts";
import type { SteadyClock } from "../budgets/steady-clock.ts";
import type { Monitor } from "./monitor.ts";
import type { DialectCache } from "./polling/dialect-cache.ts";
import type { StateSnapshot } from "./state/store.ts";

/** What the state file is made of. */
export interface SnapshotSource {
  /** Asked only for what is written: each poll takes a snapshot. */
  readonly monitor: Pick<Monitor, "save">;
  readonly dialects: Pick<DialectCache, "save">;
  readonly budgets: Budgets;
  /** The clock of the budgets. */
  readonly clock: SteadyClock;
  readonly nowMs: () => number;
}

/** The part of it that is written to disk. */
export function takeSnapshot({ monitor, dialects, budgets, clock, nowMs }: SnapshotSource): StateSnapshot {
  return {
    all() {
      const onWritten = budgets.checkpoint();
      const spent = shiftSavedBudgets(budgets.save(clock.nowMs()), clock.aheadMs());
      const state = {
        savedAtMs: nowMs(),
        ...monitor.save(),
        budgets: savedBudgetsToJson(spent),
        questions: dialects.save(),
      };
      return { state, onWritten };
    },
    drawn: (after) => ({
      budgets: savedBudgetsToJson(
        shiftSavedBudgets(budgets.saveDrawn(clock.nowMs(), after), clock.aheadMs()),
      ),
      sequence: budgets.sequence(),
    }),
    aheadMs: () => clock.aheadMs(),
  };
}
