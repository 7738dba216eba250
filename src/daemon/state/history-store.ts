import { ChainHistory, type HistorySlice, type SavedHistory, type Span } from "../../core/history/history.ts";
import { chainReports, type Report } from "../../core/model/report.ts";
import { moveAside } from "../../io/state/file.ts";
import { historyPathOf, readHistoryFile, writeHistoryFile } from "../../io/state/history-file.ts";
import { StateFileError } from "../../io/state/path.ts";
import { isSystemError } from "../../io/system-error.ts";
import type { World } from "../../io/world.ts";
import { inSlices } from "./in-slices.ts";

/** A crash loses so much of the plots at most: nothing else depends on them. */
const SAVE_MS = 10 * 60_000;

/** The history of every configured chain, for the plots, and its file. Disposing it saves the history. */
export class HistoryStore implements AsyncDisposable {
  readonly #world: Pick<World, "logger" | "stateFile" | "nowMs">;
  #chains = new Map<string, ChainHistory>();
  #saving: Promise<void> = Promise.resolve();
  readonly #timer = setInterval(() => void this.#saveInTurn(), SAVE_MS);

  private constructor(world: Pick<World, "logger" | "stateFile" | "nowMs">) {
    this.#world = world;
  }

  /** Continues the history that the previous process saved. */
  static async open(world: Pick<World, "logger" | "stateFile" | "nowMs">): Promise<HistoryStore> {
    const store = new HistoryStore(world);
    if (world.stateFile !== null) {
      store.restore(await load(world.stateFile, world));
    }
    return store;
  }

  /** Records a report; to be called every second, one call at a time. */
  async record(report: Report): Promise<void> {
    const atMs = Date.parse(report.generated_at);
    const former = this.#chains;
    this.#chains = new Map(report.chains.map(({ slug }) => [slug, former.get(slug) ?? new ChainHistory()]));
    await inSlices(
      chainReports(report),
      (chain) => this.#chains.get(chain.slug)?.record(chain, atMs),
      this.#world.nowMs,
    );
  }

  /** A stretch of a chain's history for the targets with these keys. */
  past(chain: string, keys: readonly string[], span: Span): HistorySlice {
    return (this.#chains.get(chain) ?? new ChainHistory()).read(keys, span);
  }

  /** Everything as plain data, one chain at a time. */
  *save(): Iterable<readonly [slug: string, history: SavedHistory]> {
    for (const [slug, history] of this.#chains) {
      yield [slug, history.save()];
    }
  }

  /** Replaces it by what another process has saved. */
  restore(saved: Readonly<Record<string, SavedHistory>>): void {
    this.#chains = new Map(
      Object.entries(saved).map(([slug, history]) => [slug, new ChainHistory().restore(history)]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#saveInTurn();
  }

  #saveInTurn(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { stateFile, logger } = this.#world;
    if (stateFile === null) {
      return;
    }
    try {
      await writeHistoryFile(stateFile, this.save());
    } catch (error) {
      if (!isSystemError(error)) {
        throw error;
      }
      logger.warn({ detail: String(error) }, "Cannot write the history file");
    }
  }
}

async function load(
  stateFile: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<Readonly<Record<string, SavedHistory>>> {
  try {
    const found = await readHistoryFile(stateFile);
    if (typeof found !== "string") {
      return found;
    }
    const movedTo = await moveAside(historyPathOf(stateFile), nowMs());
    logger.warn({ reason: found, movedTo }, "History file invalid, moved aside; the plots start empty");
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    logger.warn({ detail: String(error) }, "Cannot read the history file; the plots start empty");
  }
  return {};
}
