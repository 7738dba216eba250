import type { HistoryStore } from "../daemon/state/history-store.ts";
import { historyText, readHistoryText } from "../io/state/history-file.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import { PartReader } from "./part-reader.ts";
import { PartWriter, type PartWriterOptions } from "./part-writer.ts";

/** It is long and changes little: a leader that dies loses so much of the plots at most. */
const WRITE_MS = 5 * 60_000;
const FORMAT = 3;
const KEY = "history";

export interface HistoryHandoverOptions extends Pick<PartWriterOptions, "store" | "nowMs" | "onTooLong"> {
  readonly store: Pick<RedisStore, "run">;
  readonly history: Pick<HistoryStore, "save" | "restore">;
  readonly monotonicMs: () => number;
  /** A part cannot be read. */
  readonly onInvalid: (part: string) => void;
}

/** Hands the history behind the plots from replica to replica. Each reads it once, and then keeps its own. */
export class HistoryHandover {
  readonly #options: HistoryHandoverOptions;
  readonly #writer: PartWriter;
  readonly #reader: PartReader;
  #dueMs = 0;
  #isRead = false;

  constructor(options: HistoryHandoverOptions) {
    this.#options = options;
    this.#writer = new PartWriter({ ...options, key: KEY, format: FORMAT });
    this.#reader = new PartReader(options.store, KEY, FORMAT);
  }

  /** This replica leads from now on. */
  startOver(): void {
    this.#writer.startOver();
    this.#dueMs = this.#options.monotonicMs() + WRITE_MS;
  }

  async writeWhenDue(token: number): Promise<void> {
    if (this.#options.monotonicMs() >= this.#dueMs) {
      this.#dueMs = this.#options.monotonicMs() + WRITE_MS;
      await this.write(token);
    }
  }

  async write(token: number): Promise<void> {
    const parts = [...this.#options.history.save()].map(([name, history]) => ({
      name,
      version: Symbol(name),
      text: () => historyText(history),
    }));
    await this.#writer.write(parts, token);
  }

  /** Reads it where that was not done yet. False if the store did not answer. */
  async readOnce(): Promise<boolean> {
    if (this.#isRead) {
      return true;
    }
    const reading = await this.#reader.read();
    this.#isRead = reading.kind !== "failed";
    if (reading.kind === "read") {
      const chains = reading.parts.flatMap(({ name, text }) => {
        const history = readHistoryText(text);
        if (history === null) {
          this.#options.onInvalid(`${KEY} ${name}`);
        }
        return history === null ? [] : [[name, history] as const];
      });
      this.#options.history.restore(Object.fromEntries(chains));
    }
    return this.#isRead;
  }
}
