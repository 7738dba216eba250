import type { PollSettings } from "../config/config.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";

/** node-cron ticks every second; a longer silence means that the loop is stuck. */
const MAX_SILENCE_MS = 15_000;
/** Added to what a poll may take by its own deadlines, before it counts as stuck. */
const POLL_GRACE_MS = 30_000;
/** No dialect has more queries; `auto` may send those of every dialect. */
const MAX_QUERIES = 8;

/** Whether the poll loop makes progress. */
export class LoopWatchdog {
  readonly #clocks: Pick<World, "nowMs" | "monotonicMs">;
  #last: { readonly atMs: number; readonly monotonicMs: number };

  constructor(clocks: Pick<World, "nowMs" | "monotonicMs">) {
    this.#clocks = clocks;
    this.#last = { atMs: clocks.nowMs(), monotonicMs: clocks.monotonicMs() };
  }

  /** The last tick of the scheduler, Unix milliseconds. */
  get lastTickMs(): number {
    return this.#last.atMs;
  }

  tick(): void {
    this.#last = { atMs: this.#clocks.nowMs(), monotonicMs: this.#clocks.monotonicMs() };
  }

  /** `longestMs`: the age of the oldest poll in flight. */
  verdict({ timeoutMs, retries }: PollSettings, longestMs: number): ProbeResult {
    const sinceTickMs = this.#clocks.monotonicMs() - this.#last.monotonicMs;
    if (sinceTickMs > MAX_SILENCE_MS) {
      return { ok: false, detail: `The scheduler has not ticked for ${Math.round(sinceTickMs / 1000)} s` };
    }
    return longestMs > timeoutMs * (retries + 1) * MAX_QUERIES + POLL_GRACE_MS
      ? { ok: false, detail: `A poll has been in flight for ${Math.round(longestMs / 1000)} s` }
      : { ok: true, detail: "The poll loop makes progress" };
  }
}
