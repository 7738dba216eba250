import type { RedisStore } from "../io/store/redis-store.ts";
import type { StoreReply } from "../io/store/store-reply.ts";
import type { ReadPart } from "./part.ts";
import { READ } from "./part-scripts.ts";

/** What was read. Times are Unix milliseconds by the store's clock. */
export type PartReading =
  | {
      readonly kind: "read";
      /** What has changed since the last reading, the latest last. */
      readonly parts: readonly ReadPart[];
      readonly storeNowMs: number;
      readonly writtenAtMs: number;
      /** How far the writer's clock was ahead of the store's. */
      readonly writerAheadMs: number;
    }
  /** Nothing was written, or the store has lost it, or its reply is unusable. */
  | { readonly kind: "nothing" }
  | { readonly kind: "other format"; readonly format: string }
  | { readonly kind: "failed" };

/** Reads what another replica has written, and from then on what has changed. */
export class PartReader {
  readonly #store: Pick<RedisStore, "run">;
  readonly #key: string;
  readonly #format: number;
  #reached = "0";

  constructor(store: Pick<RedisStore, "run">, key: string, format: number) {
    this.#store = store;
    this.#key = key;
    this.#format = format;
  }

  /** The next reading is of everything. */
  startOver(): void {
    this.#reached = "0";
  }

  /** To be called one at a time. */
  async read(): Promise<PartReading> {
    const parts: ReadPart[] = [];
    for (;;) {
      const reply = await this.#store.run(READ, [this.#key, `${this.#key}-order`], [this.#reached]);
      const page = reply.kind === "failed" ? null : reply.value;
      if (page === null) {
        // Parts that were read before it are lost with this reading.
        this.startOver();
        return { kind: kindWithoutPage(reply) };
      }
      const { format, reached, isLast, ...reading } = page;
      if (format !== String(this.#format)) {
        return { kind: "other format", format };
      }
      parts.push(...reading.parts);
      this.#reached = reached;
      if (isLast) {
        return { kind: "read", ...reading, parts };
      }
    }
  }
}

/** Who leads must poll, whatever the store replies. */
function kindWithoutPage(reply: StoreReply<unknown>): "failed" | "nothing" {
  return reply.kind === "failed" && reply.reason !== "unusable" ? "failed" : "nothing";
}
