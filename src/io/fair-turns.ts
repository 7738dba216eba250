import pLimit, { type LimitFunction } from "p-limit";

/** Runs tasks one at a time. Those who wait take turns, so that one with many tasks does not keep the others waiting. */
export class FairTurns {
  readonly #oneByOne = pLimit(1);
  /** By who waits: of each, at most one task waits among those of the others. */
  readonly #turns = new Map<string, LimitFunction>();

  /** The tasks of this one that run or wait. */
  waiting(who: string): number {
    const own = this.#turns.get(who);
    return own === undefined ? 0 : own.activeCount + own.pendingCount;
  }

  async run<Result>(who: string, task: () => Result | Promise<Result>): Promise<Result> {
    const own = this.#turns.get(who) ?? pLimit(1);
    this.#turns.set(who, own);
    try {
      return await own(() => this.#oneByOne(task));
    } finally {
      if (own.pendingCount === 0) {
        this.#turns.delete(who);
      }
    }
  }
}
