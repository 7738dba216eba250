import type { Use } from "../../budgets/ledger.ts";
import type { Endpoint } from "../../core/model/fleet.ts";

/** Whether a poll showed that a target's status is about to change, or has just changed. */
export type Stability = "stable" | "changing";

/** Three polls in a row that agree settle every change of status. */
const MOST_CONFIRMATIONS = 2;
const LONGEST_DELAY_MS = 60_000;

/**
 * How soon an endpoint with a changing target is polled again, in milliseconds: a quarter of its interval, at most a
 * minute. Null where it had enough confirmation polls since the last scheduled one.
 */
function confirmationDelayMs(pollIntervalMs: number, confirmations: number): number | null {
  return confirmations < MOST_CONFIRMATIONS ? Math.min(pollIntervalMs / 4, LONGEST_DELAY_MS) : null;
}

/** Polls endpoints with a changing target again before their schedule does. Disposing it starts no more polls. */
export class Confirmations implements Disposable {
  readonly #poll: (endpoint: Endpoint) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Since the last scheduled poll, by the endpoint's key. */
  readonly #counts = new Map<string, number>();
  #isDisposed = false;

  constructor(poll: (endpoint: Endpoint) => void) {
    this.#poll = poll;
  }

  /** To be called after each poll. */
  onPolled(endpoint: Endpoint, use: Use, stability: Stability): void {
    const { key, pollIntervalMs } = endpoint;
    const count = use === "scheduled" ? 0 : (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    const delayMs = stability === "changing" ? confirmationDelayMs(pollIntervalMs, count) : null;
    if (delayMs !== null && !this.#isDisposed) {
      const timer = setTimeout(() => this.#poll(endpoint), delayMs);
      this.#timers.set(key, timer);
    }
  }

  cancel({ key }: Endpoint): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const timer of this.#timers.values()) {
      clearTimeout(timer);
    }
  }
}
