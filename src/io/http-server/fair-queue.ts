/** Runs tasks one at a time, in turns by key: one key with many tasks delays another by one task only. */
export class FairQueue {
  readonly #maxWaiting: number;
  /** By key, in the order of their turns; a key without waiting tasks has no entry. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isRunning = false;

  /** `maxWaiting`: for each key. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Null, and the task is not run, where too many of this key wait already. */
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result> | null {
    const waiting = this.#waiting.get(key) ?? [];
    if (waiting.length >= this.#maxWaiting) {
      return null;
    }
    const result = new Promise<Result>((resolve, reject) => {
      waiting.push(() => task().then(resolve, reject));
    });
    this.#waiting.set(key, waiting);
    void this.#drain();
    return result;
  }

  async #drain(): Promise<void> {
    if (this.#isRunning) {
      return;
    }
    this.#isRunning = true;
    for (let task = this.#next(); task !== undefined; task = this.#next()) {
      await task();
    }
    this.#isRunning = false;
  }

  /** The oldest task of the key whose turn it is; that key goes to the end of the line. */
  #next(): (() => Promise<void>) | undefined {
    for (const [key, [task, ...rest]] of this.#waiting) {
      this.#waiting.delete(key);
      if (rest.length > 0) {
        this.#waiting.set(key, rest);
      }
      return task;
    }
    return undefined;
  }
}
