import type { PollSettings } from "../config/config.ts";
import type { CheckResult } from "../io/http-server/server-deps.ts";
import type { World } from "../world.ts";

/** node-cron ticks each second; this long without one means that the loop is stuck. */
const LONGEST_TICK_MS = 15_000;
/** Beyond what a poll may take by its own deadlines, before it is called stuck. */
const POLL_GRACE_MS = 30_000;
/** No dialect has more questions; `auto` may ask all of all. */
const MOST_QUESTIONS = 8;

/** Whether the poll loop makes progress. */
export class LoopWatchdog {
  readonly #clocks: Pick<World, "nowMs" | "monotonicMs">;
  #last: { readonly atMs: number; readonly monotonicMs: number };

  constructor(clocks: Pick<World, "nowMs" | "monotonicMs">) {
    this.#clocks = clocks;
    this.#last = { atMs: clocks.nowMs(), monotonicMs: clocks.monotonicMs() };
  }

  /** When the scheduler ticked last, unix milliseconds. */
  get lastTickMs(): number {
    return this.#last.atMs;
  }

  tick(): void {
    this.#last = { atMs: this.#clocks.nowMs(), monotonicMs: this.#clocks.monotonicMs() };
  }

  /** `longestMs`: how long the oldest poll under way has taken. */
  verdict({ timeoutMs, retries }: PollSettings, longestMs: number): CheckResult {
    const sinceTickMs = this.#clocks.monotonicMs() - this.#last.monotonicMs;
    if (sinceTickMs > LONGEST_TICK_MS) {
      return { ok: false, detail: `The scheduler has not ticked for ${Math.round(sinceTickMs / 1000)} s` };
    }
    return longestMs > timeoutMs * (retries + 1) * MOST_QUESTIONS + POLL_GRACE_MS
      ? { ok: false, detail: `A poll has been under way for ${Math.round(longestMs / 1000)} s` }
      : { ok: true, detail: "The poll loop makes progress" };
  }
}
