import { LEASE_KEY } from "../io/store/budget-scripts.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { Part } from "./part.ts";
import { PRUNE, WRITE } from "./part-scripts.ts";

/** `fenced`: another replica leads by now. `failed`: the store did not answer, or has lost what it had. */
export type WriteResult = "written" | "fenced" | "failed";

export interface PartWriterOptions {
  readonly store: Pick<RedisStore, "run">;
  /** The name of the keys. */
  readonly key: string;
  /** The version of the format of the parts. */
  readonly format: number;
  readonly nowMs: () => number;
  /** A part is too long to be handed over. */
  readonly onTooLong: (name: string, bytes: number) => void;
}

/** A call carries so much at once, so that it is done within its second. */
const CALL_CHARS = 524_288;
const LONGEST_PART_CHARS = 16_777_216;

/** Writes what has changed since the last time to the store. */
export class PartWriter {
  readonly #options: PartWriterOptions;
  /** What the store has, by the part's name; null: unknown, so that all is written. */
  #written: Map<string, unknown> | null = null;
  #number = "";

  constructor(options: PartWriterOptions) {
    this.#options = options;
  }

  /** Whatever the store has is written again. */
  startOver(): void {
    this.#written = null;
    this.#number = "";
  }

  /** To be called one at a time. A write without changes renews the time of the last one. */
  async write(parts: readonly Part[], token: number): Promise<WriteResult> {
    const written = this.#written ?? new Map<string, unknown>();
    const isFirst = this.#written === null;
    const changed = parts.filter(({ name, version }) => written.get(name) !== version);
    let oldest = "";
    for (const batch of this.#batches(changed)) {
      const before = this.#number;
      const result = await this.#send(batch, token);
      if (result !== "written") {
        this.startOver();
        return result;
      }
      oldest = isFirst && before === "" ? String(Number(this.#number) - batch.length) : oldest;
      for (const { name, version } of batch) {
        written.set(name, version);
      }
    }
    this.#written = written;
    if (isFirst) {
      await this.#prune(oldest, token);
    }
    return "written";
  }

  async #send(batch: readonly EncodedPart[], token: number): Promise<WriteResult> {
    const { store, format, nowMs } = this.#options;
    const texts = batch.flatMap(({ name, text }) => [name, text]);
    const reply = await store.run(WRITE, this.#keys(), [token, this.#number, nowMs(), format, ...texts]);
    if (reply.kind === "failed" || reply.value === "lost") {
      return "failed";
    }
    if (reply.value === "fenced") {
      return "fenced";
    }
    this.#number = reply.value.toString();
    return "written";
  }

  /** What an earlier configuration had; the rest of it goes at the next start. */
  async #prune(upTo: string, token: number): Promise<void> {
    await this.#options.store.run(PRUNE, this.#keys(), [token, upTo]);
  }

  /** At least one, so that the time of the last write is renewed. */
  *#batches(parts: readonly Part[]): Iterable<readonly EncodedPart[]> {
    let batch: EncodedPart[] = [];
    let length = 0;
    for (const { name, version, text: encode } of parts) {
      const text = encode();
      if (text.length > LONGEST_PART_CHARS) {
        this.#options.onTooLong(name, text.length);
        continue;
      }
      if (batch.length > 0 && length + text.length > CALL_CHARS) {
        yield batch;
        [batch, length] = [[], 0];
      }
      batch.push({ name, version, text });
      length += text.length;
    }
    yield batch;
  }

  #keys(): readonly string[] {
    const { key } = this.#options;
    return [LEASE_KEY, key, `${key}-order`];
  }
}

interface EncodedPart {
  readonly name: string;
  readonly version: unknown;
  readonly text: string;
}
