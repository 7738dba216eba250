import { shareNext } from "../share-next.ts";

interface DebouncedWriterOptions {
  /** The time from a change to the write, and from a failed write to the next attempt. */
  readonly delayMs: number;
  /** Writes the whole current content. */
  readonly write: () => Promise<void>;
  /** Called once when writing begins to fail, with the message of the error. Every waiting `flush` is rejected, too. */
  readonly onFailure: (detail: string) => void;
  /** Called once when writing succeeds again. */
  readonly onRecovery: () => void;
}

/**
 * Writes content some time after a change, at once on `flush`, and a last time when it is disposed. Callers of `flush` that wait
 * at the same time share one write.
 */
export class DebouncedWriter implements AsyncDisposable {
  readonly #options: DebouncedWriterOptions;
  #timer: NodeJS.Timeout | null = null;
  /** When the next write is due, by `performance.now()`. */
  #dueMs = 0;
  #problem: string | null = null;
  /** Waits until all changes so far are on disk. @throws The error of `write`. */
  readonly flush = shareNext(() => this.#write());

  constructor(options: DebouncedWriterOptions) {
    this.#options = options;
  }

  /** Why the last write failed, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Plans a write after a change, `delayMs` from now or earlier. A crash before it loses the change. */
  touch(delayMs = this.#options.delayMs): void {
    const dueMs = performance.now() + delayMs;
    if (this.#timer === null || dueMs < this.#dueMs) {
      clearTimeout(this.#timer ?? undefined);
      this.#timer = setTimeout(() => void this.#save(), delayMs);
      this.#dueMs = dueMs;
    }
  }

  /** Writes for the last time. Nothing may change afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#save();
    clearTimeout(this.#timer ?? undefined);
  }

  /** Writes without throwing: `onFailure` has reported a failure. */
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
