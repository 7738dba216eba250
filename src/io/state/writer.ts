import { shareNext } from "../share-next.ts";

interface DebouncedWriterOptions {
  /** The time from a change to its write, and from a failed write to the next. */
  readonly delayMs: number;
  /** Writes the whole content of the moment of the call. */
  readonly write: () => Promise<void>;
  /** Called once when writing begins to fail, with the message of the error; every `flush` that waits for it is rejected too. */
  readonly onFailure: (detail: string) => void;
  /** Called once when writing succeeds again. */
  readonly onRecovery: () => void;
}

/**
 * Writes content some time after a change, at once for a caller of `flush`, and at the end. Callers that wait at the same
 * time share one write.
 */
export class DebouncedWriter implements AsyncDisposable {
  readonly #options: DebouncedWriterOptions;
  #timer: NodeJS.Timeout | null = null;
  /** When the next write is due, by `performance.now()`. */
  #dueMs = 0;
  #problem: string | null = null;
  /** Waits until the content as of now is on disk. @throws What `write` throws. */
  readonly flush = shareNext(() => this.#write());

  constructor(options: DebouncedWriterOptions) {
    this.#options = options;
  }

  /** Why the last write failed, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Something changed; a crash before it is written may lose it. Of several changes the most urgent one counts. */
  touch(delayMs = this.#options.delayMs): void {
    const dueMs = performance.now() + delayMs;
    if (this.#timer === null || dueMs < this.#dueMs) {
      clearTimeout(this.#timer ?? undefined);
      this.#timer = setTimeout(() => void this.#save(), delayMs);
      this.#dueMs = dueMs;
    }
  }

  /** Writes for the last time: nothing may change after that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#save();
    clearTimeout(this.#timer ?? undefined);
  }

  /** A failure was reported by `onFailure` already. */
  async #save(): Promise<void> {
    await Promise.allSettled([this.flush()]);
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    try {
      await this.#options.write();
      if (this.#problem !== null) {
        this.#problem = null;
        this.#options.onRecovery();
      }
    } catch (error) {
      this.touch();
      const wasFailing = this.#problem !== null;
      this.#problem = error instanceof Error ? error.message : String(error);
      if (!wasFailing) {
        this.#options.onFailure(this.#problem);
      }
      throw error;
    }
  }
}
