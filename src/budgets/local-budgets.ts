import type { Fleet } from "../core/model/fleet.ts";
import { Budgets } from "./budgets.ts";
import { type SavedBudgets, shiftSavedBudgets } from "./saved-budgets.ts";

interface Clocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

const STEP_MS = 600_000;
/** The two clocks differ by this much without a jump. */
const DRIFT_MS = 1_000;

/**
 * The budgets of a process that shares them with no other, and the clock that they are counted by.
 *
 * A wall clock put forward by an hour would free what was spent in that hour, so it is read only once. One that was set back
 * while no process ran would write what is spent where a right clock no longer counts it, so the clock of the budgets does not
 * start before they were saved.
 */
export class LocalBudgets {
  readonly budgets: Budgets;
  readonly #world: Clocks;
  readonly #startMs: number;

  /** `saved`: by an earlier process. */
  constructor(fleet: Fleet, saved: SavedBudgets, world: Clocks) {
    this.#world = world;
    this.#startMs = Math.max(saved.atMs, world.nowMs()) - world.monotonicMs();
    this.budgets = new Budgets(fleet);
    this.budgets.restore(saved);
  }

  /** Unix milliseconds, advanced from the start of the process without a jump. */
  readonly nowMs = (): number => Math.round(this.#startMs + this.#world.monotonicMs());

  /**
   * How far the wall clock has moved ahead of it since, by a jump or a sleep of the machine; 0 where it is behind. It is
   * rounded up to whole steps so that it seldom changes. What is written for the next process is shifted by it: that one
   * starts with the wall clock, and must not take spending for older than it is.
   */
  aheadMs(): number {
    const aheadMs = this.#world.nowMs() - this.nowMs();
    return aheadMs <= DRIFT_MS ? 0 : Math.ceil(aheadMs / STEP_MS) * STEP_MS;
  }

  /** For the next process. */
  save(): SavedBudgets {
    return shiftSavedBudgets(this.budgets.save(this.nowMs()), this.aheadMs());
  }

  /** The part of it that has changed after this sequence number. */
  saveChanges(after: number): SavedBudgets {
    return shiftSavedBudgets(this.budgets.saveChanges(this.nowMs(), after), this.aheadMs());
  }
}
