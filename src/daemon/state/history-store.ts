import type { HistorySlice, SavedHistory, Span } from "../../core/history/history.ts";
import { chainReports, type Report } from "../../core/model/report.ts";
import { moveAside } from "../../io/state/file.ts";
import { historyPathOf, readHistoryFile, writeHistoryFile } from "../../io/state/history-file.ts";
import { StateFileError } from "../../io/state/path.ts";
import { isSystemError } from "../../io/system-error.ts";
import type { World } from "../../io/world.ts";
import { inSlices } from "./in-slices.ts";
import { Recorder } from "./recorder.ts";

/** The history behind the plots, and its file. Disposing it saves the history. */
export interface HistoryStore extends AsyncDisposable {
  /** Records a report; to be called every second, one call at a time. */
  readonly record: (report: Report) => Promise<void>;
  /** Everything as plain data, one chain at a time. */
  readonly save: () => Iterable<readonly [slug: string, history: SavedHistory]>;
  /** Replaces it by what another replica has saved. */
  readonly restore: (saved: Readonly<Record<string, SavedHistory>>) => void;
  /** A stretch of a chain's history for the targets with these keys. */
  readonly past: (chain: string, keys: readonly string[], span: Span) => HistorySlice;
}

/** A crash loses so much of the plots at most: nothing else depends on them. */
const SAVE_MS = 10 * 60_000;

/** Continues the history that the previous process saved. */
export async function openHistoryStore({
  stateFile,
  logger,
  nowMs,
}: Pick<World, "logger" | "stateFile" | "nowMs">): Promise<HistoryStore> {
  const recorder = new Recorder();
  let saving: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    if (stateFile === null) {
      return;
    }
    try {
      await writeHistoryFile(stateFile, recorder.save());
    } catch (error) {
      if (!isSystemError(error)) {
        throw error;
      }
      logger.warn({ detail: String(error) }, "Cannot write the history file");
    }
  }

  function saveInTurn(): Promise<void> {
    saving = saving.then(save);
    return saving;
  }

  if (stateFile !== null) {
    recorder.restore(await load(stateFile, { logger, nowMs }));
  }
  const timer = setInterval(() => void saveInTurn(), SAVE_MS);
  return {
    async record(report) {
      recorder.retain(report);
      const atMs = Date.parse(report.generated_at);
      await inSlices(chainReports(report), (chain) => recorder.record(chain, atMs), nowMs);
    },
    save: () => recorder.save(),
    restore: (saved) => recorder.restore(saved),
    past: (chain, keys, span) => recorder.past(chain, keys, span),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await saveInTurn();
    },
  };
}

async function load(
  stateFile: string,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
): Promise<Readonly<Record<string, SavedHistory>>> {
  try {
    const found = await readHistoryFile(stateFile);
    if (found.kind === "history") {
      return found.chains;
    }
    const { reason, movedTo } = await moveAside(historyPathOf(stateFile), found.reason, nowMs());
    logger.warn({ reason, movedTo }, "History file invalid, moved aside; the plots start empty");
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof StateFileError)) {
      throw error;
    }
    logger.warn({ detail: String(error) }, "Cannot read the history file; the plots start empty");
  }
  return {};
}
