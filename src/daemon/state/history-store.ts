import { ChainHistory, type HistorySlice, type SavedHistory, type Span } from "../../core/history/history.ts";
import { chainReports, type Report } from "../../core/model/report.ts";
import { readOptional, writeAtomically } from "../../io/state/kept-file.ts";
import { type Part, partLines, sealedPart, unsealLines } from "../../io/state/parts.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../io/world.ts";
import { inSlices } from "./in-slices.ts";
import type { StateStore } from "./store.ts";

type HistoryWorld = Pick<World, "logger" | "nowMs" | "past" | "stateFile">;
type NamedHistory = readonly [slug: string, history: SavedHistory];

/** A crash loses at most this much of the plots, on which nothing else depends. */
const SAVE_MS = 10 * 60_000;

/**
 * The file of the plotted history. It is apart from the state file, which is much smaller and written far more often. It has a
 * line for each chain, so that the whole text is never in memory at once.
 */
export function historyPathOf(statePath: string): string {
  return `${statePath}.history`;
}

/** The history of every configured chain, for the plots, and its file. Disposing it saves the history. */
export class HistoryStore implements AsyncDisposable {
  readonly #world: Pick<World, "nowMs">;
  readonly #writer: DebouncedWriter | null;
  #chains = new Map<string, ChainHistory>();

  private constructor({ nowMs, logger, stateFile }: HistoryWorld, assertHeld: StateStore["assertHeld"]) {
    this.#world = { nowMs };
    this.#writer =
      stateFile === null
        ? null
        : new DebouncedWriter({
            delayMs: SAVE_MS,
            write: async () => {
              await assertHeld();
              await writeHistory(stateFile, this.save());
            },
            onFailure: (detail) => logger.warn({ detail }, "Cannot write the history file"),
            onRecovery: () => logger.info("History file writable again"),
          });
  }

  /** Continues the history that the previous process saved. `assertHeld`: as for `EventStore.open`. */
  static async open(world: HistoryWorld, assertHeld = () => Promise.resolve()): Promise<HistoryStore> {
    const store = new HistoryStore(world, assertHeld);
    store.restore(world.past?.history ?? new Map());
    if (world.stateFile !== null) {
      const path = historyPathOf(world.stateFile);
      const text = await readOptional(path, world, "Cannot read the history file; the plots start empty");
      const { values, invalid } = unsealLines(text?.trimEnd().split("\n") ?? []);
      if (invalid.length > 0) {
        const fields = { chains: invalid };
        world.logger.warn(fields, "History file damaged, or of another version; these plots start empty");
      }
      // A sealed part has the type with which `partsOf` wrote it.
      const saved = [...values].map(
        ([slug, value]) => [slug, decodeHistory(value as EncodedHistory)] as const,
      );
      store.restore(new Map(saved));
    }
    return store;
  }

  /** Records a report; to be called every 15 s, one call at a time. */
  async record(report: Report): Promise<void> {
    const atMs = Date.parse(report.generated_at);
    const former = this.#chains;
    this.#chains = new Map(report.chains.map(({ slug }) => [slug, former.get(slug) ?? new ChainHistory()]));
    await inSlices(
      chainReports(report),
      (chain) => this.#chains.get(chain.slug)?.record(chain, atMs),
      this.#world.nowMs,
    );
    this.#writer?.touch();
  }

  /** A stretch of a chain's history for the targets with these keys. */
  past(chain: string, keys: readonly string[], span: Span): HistorySlice {
    return (this.#chains.get(chain) ?? new ChainHistory()).read(keys, span);
  }

  /** Everything as plain data, one chain at a time. */
  *save(): Iterable<NamedHistory> {
    for (const [slug, history] of this.#chains) {
      yield [slug, history.save()];
    }
  }

  /** Replaces the history by the history that another process has saved. */
  restore(saved: ReadonlyMap<string, SavedHistory>): void {
    this.#chains = new Map([...saved].map(([slug, history]) => [slug, new ChainHistory().restore(history)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
  }
}

/** Writes the file, all of it or nothing. @throws If the disk refuses; the previous file is then still there. */
export async function writeHistory(statePath: string, chains: Iterable<NamedHistory>): Promise<void> {
  await writeAtomically(historyPathOf(statePath), partLines(partsOf(chains)));
}

/** A part for each chain. Numbers are the base64 of their bytes: a large fleet has millions of them. */
function* partsOf(chains: Iterable<NamedHistory>): Iterable<Part> {
  for (const [slug, history] of chains) {
    yield sealedPart(slug, encodeHistory(history));
  }
}

type EncodedHistory = ReturnType<typeof encodeHistory>;

function encodeHistory({ timesMs, series }: SavedHistory) {
  return { timesMs: encode(timesMs), series: Object.entries(series).map(encodeSeries) };
}

function decodeHistory({ timesMs, series }: EncodedHistory): SavedHistory {
  const decoded = series.map(({ name, bits, values }) => {
    const numbers = bits === 64 ? new Float64Array(decode(values)) : new Float32Array(decode(values));
    return [name, numbers] as const;
  });
  return { timesMs: new Float64Array(decode(timesMs)), series: Object.fromEntries(decoded) };
}

function encodeSeries([name, values]: readonly [string, NodeJS.TypedArray]) {
  return { name, bits: 8 * values.BYTES_PER_ELEMENT, values: encode(values) };
}

function encode({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function decode(text: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(text, "base64")).buffer;
}
