import type { Budgets } from "../schedule/budgets.ts";
import { savedBudgetsToJson, shiftSavedBudgets } from "../schedule/saved-budgets.ts";
import type { SteadyClock } from "../schedule/steady-clock.ts";
import type { EndpointMemory } from "./endpoint-memory.ts";
import type { Monitor } from "./monitor.ts";
import type { Keepsake } from "./state-keeper.ts";

/** What a daemon knows, and what must outlive it. */
export interface Memories {
  readonly monitor: Monitor;
  readonly endpoints: EndpointMemory;
  readonly budgets: Budgets;
  /** The clock that the budgets go by. */
  readonly clock: SteadyClock;
  readonly nowMs: () => number;
}

/** What of it is written to disk. */
export function keepsakeOf({ monitor, endpoints, budgets, clock, nowMs }: Memories): Keepsake {
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
