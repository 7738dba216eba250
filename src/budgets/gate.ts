import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import { Budgets, type Grant, refusedByUs } from "./budgets.ts";
import type { Use } from "./ledger.ts";
import { type SavedBudgets, shiftSavedBudgets } from "./saved-budgets.ts";

/** The budgets of a fleet, and where their counts are recorded: the state file, or the store that several processes share. */
export interface BudgetRecord {
  readonly budgets: Budgets;
  readonly nowMs: () => number;
  /** Why recording is not even tried now; null: it is tried, and `flush` may fail. */
  readonly problem: () => string | null;
  /** Waits until all counts are recorded. @throws If they cannot be. */
  readonly flush: () => Promise<void>;
  /** Called when a provider has refused a request, because the refusal must be recorded soon. */
  readonly touchJournal: () => void;
  /**
   * Allows a scheduled request whose count cannot be recorded. The leader has an advance of such requests for five minutes after
   * its last contact with the store. Default: always false.
   */
  readonly useAdvance?: (endpoint: Endpoint) => boolean;
}

/**
 * Every request passes the gate before it is sent. It is counted first: a crash may lose the request, but never its count. A
 * request that cannot be recorded is not sent, unless `useAdvance` allows it. An endpoint without a budget does not wait for
 * the record.
 */
export class BudgetGate {
  readonly #record: BudgetRecord;
  readonly #random: () => number;

  constructor(record: BudgetRecord, random: () => number) {
    this.#record = record;
    this.#random = random;
  }

  /**
   * Counts a request, or says why it must not be sent. A granted request may be sent once the promise settles: its count is
   * recorded, unless the endpoint has no budget or the advance allows the request.
   */
  async acquire(endpoint: Endpoint, use: Use): Promise<Grant> {
    const record = this.#record;
    const problem = endpoint.budget === null ? null : record.problem();
    if (problem !== null) {
      return refusedUnrecorded(problem);
    }
    const grant = record.budgets.acquire(endpoint, use, record.nowMs());
    if (endpoint.budget === null || grant.kind === "refused") {
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

  /**
   * The provider refused this endpoint, with these words. `retryAfterMs`: how long it asks us to wait; null if it did not say.
   * Returns how long nothing is sent.
   */
  backOff(endpoint: Endpoint, retryAfterMs: number | null, words: string): number {
    const nowMs = this.#record.nowMs();
    const untilMs = retryAfterMs === null ? null : nowMs + retryAfterMs;
    const waitMs = this.#record.budgets.backOff(endpoint, { nowMs, untilMs, words, random: this.#random() });
    this.#record.touchJournal();
    return waitMs;
  }
}

function refusedUnrecorded(why: string): Grant {
  return refusedByUs(`cannot record budget usage: ${why}`);
}

interface Clocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

const ROUNDED_TO_MS = 600_000;
/** The two clocks may drift apart by this much without a jump. */
const DRIFT_MS = 1_000;

/**
 * The budgets of a single process, and their clock.
 *
 * Danger: if the wall clock was set forward by an hour, the budgets would forget requests an hour too early. So their clock
 * starts from the wall clock, and does not follow it. If the wall clock was set back while no process ran, new requests would
 * get times that are too early, and would be forgotten too soon. So the clock of the budgets does not start before the time
 * at which they were saved.
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
   * How far the wall clock has moved ahead of this clock, by a jump or a sleep of the machine, rounded up so that the
   * result seldom changes; 0 if the wall clock is behind. Saved times are moved forward by this time: else they would look too
   * old to the next process, which starts from the wall clock.
   */
  aheadMs(): number {
    const aheadMs = this.#world.nowMs() - this.nowMs();
    return aheadMs <= DRIFT_MS ? 0 : Math.ceil(aheadMs / ROUNDED_TO_MS) * ROUNDED_TO_MS;
  }

  save(afterSequence: number | null = null): SavedBudgets {
    return shiftSavedBudgets(this.budgets.save(this.nowMs(), afterSequence), this.aheadMs());
  }
}
