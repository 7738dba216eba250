import type { RateLimit } from "../../config/web/web-settings.ts";

/** A bucket that is full at first; each request takes a token, each interval adds one. */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #monotonicMs: () => number;
  #tokens: number;
  #filledMs: number;

  constructor(limit: RateLimit, monotonicMs: () => number) {
    this.#limit = limit;
    this.#monotonicMs = monotonicMs;
    this.#tokens = limit.burst;
    this.#filledMs = monotonicMs();
  }

  /** False where it is empty. */
  take(): boolean {
    const nowMs = this.#monotonicMs();
    const earned = (nowMs - this.#filledMs) / this.#limit.intervalMs;
    this.#filledMs = nowMs;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + earned);
    if (this.#tokens < 1) {
      return false;
    }
    this.#tokens -= 1;
    return true;
  }
}
