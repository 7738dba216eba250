import pLimit, { type LimitFunction } from "p-limit";

/** Runs tasks one at a time. Their owners take turns, so an owner with many tasks does not delay the others. */
export class FairTurns {
  readonly #oneByOne = pLimit(1);
  /** The limiter of each owner: only one task of an owner at a time waits in `#oneByOne`. */
  readonly #turns = new Map<string, LimitFunction>();

  /** The number of tasks of an owner that run or wait. */
  waiting(owner: string): number {
    const own = this.#turns.get(owner);
    return own === undefined ? 0 : own.activeCount + own.pendingCount;
  }

  async run<Result>(owner: string, task: () => Result | Promise<Result>): Promise<Result> {
    const own = this.#turns.get(owner) ?? pLimit(1);
    this.#turns.set(owner, own);
    try {
      return await own(() => this.#oneByOne(task));
    } finally {
      if (this.waiting(owner) === 0) {
        this.#turns.delete(owner);
      }
    }
  }
}
