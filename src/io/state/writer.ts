export interface DebouncedWriterOptions<Content> {
  /** All that is to be remembered, as of now. */
  readonly content: () => Content;
  /** Puts it on disk. */
  readonly write: (content: Content) => Promise<void>;
  /** Called once when writing begins to fail; every `recorded` that waits for it is rejected too. */
  readonly onFailure: (error: unknown) => void;
  /** Called once when writing succeeds again. */
  readonly onRecovery: () => void;
}

/** What a crash falls back to is five seconds old at most: half a second is for the writing. */
const LONGEST_UNSAVED_MS = 4_500;

/**
 * Writes what is to be remembered: within five seconds after a change, at once for whoever waits for it, and at the
 * end. All that wait at the same time share one write.
 */
export class DebouncedWriter<Content> implements AsyncDisposable {
  readonly #options: DebouncedWriterOptions<Content>;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** A write that has not begun, and so will hold all that is true now. */
  #queued: Promise<void> | null = null;
  #isFailing = false;

  constructor(options: DebouncedWriterOptions<Content>) {
    this.#options = options;
  }

  /** Something changed that may be lost by a crash for five seconds. */
  touch(): void {
    this.#timer ??= setTimeout(() => void this.#save(), LONGEST_UNSAVED_MS);
  }

  /**
   * Waits until all that is true now is on disk.
   *
   * @throws What `write` throws: then it is not, and what depends on it must not happen.
   */
  async recorded(): Promise<void> {
    this.#queued ??= this.#afterTheFormer();
    await this.#queued;
  }

  /** Writes for the last time: nothing may change any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#save();
    clearTimeout(this.#timer ?? undefined);
  }

  /** Whoever is told of the failure by `onFailure` needs no second telling. */
  async #save(): Promise<void> {
    await Promise.allSettled([this.recorded()]);
  }

  async #afterTheFormer(): Promise<void> {
    await Promise.allSettled([this.#writing]);
    this.#queued = null;
    this.#writing = this.#write();
    await this.#writing;
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    try {
      await this.#options.write(this.#options.content());
      if (this.#isFailing) {
        this.#isFailing = false;
        this.#options.onRecovery();
      }
    } catch (error) {
      this.touch();
      if (!this.#isFailing) {
        this.#isFailing = true;
        this.#options.onFailure(error);
      }
      throw error;
    }
  }
}
