import { type SavedState, writeStateFile } from "../../io/state/file.ts";
import { appendToBudgetJournal, removeBudgetJournal, writeBudgetJournal } from "../../io/state/journal.ts";
import { lockStateFile, type StateLock, type StateLockedError } from "../../io/state/lock.ts";
import { resolveStatePath, StateFileError } from "../../io/state/path.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../io/world.ts";
import { EMPTY_STATE, loadState, type RestoredState } from "./load.ts";

/** What is written to disk. */
export interface StateSnapshot {
  /** Everything. `onWritten` is called once that is on disk. */
  readonly all: () => { readonly state: SavedState; readonly onWritten: () => void };
  /** The budgets that were drawn on, or refused by a provider, after this sequence number; since the last `onWritten` for null. */
  readonly drawn: (after: number | null) => { readonly budgets: unknown; readonly sequence: number };
  /** By how much the times of budgets are shifted; it changes when the wall clock jumps. */
  readonly aheadMs: () => number;
}

/** Keeps the state on disk. Disposing it writes for the last time. */
export interface StateStore extends AsyncDisposable {
  /** The state that the previous process left. */
  readonly restored: RestoredState;
  /** Something changed: it is written within a minute; at once where the wall clock has jumped, for what was spent must be shifted. */
  readonly touch: () => void;
  /** A provider refused a request: that is written within five seconds. */
  readonly touchJournal: () => void;
  /** Why nothing can be written now, or null. */
  readonly problem: () => string | null;
  /** Waits until all that was drawn from budgets is on disk. @throws If it is not: then nothing may be sent. */
  readonly flush: () => Promise<void>;
  /** Writes the server's URL into the lock, for `check` and for other processes that want the same file. */
  readonly publishUrl: (url: string) => Promise<void>;
}

export interface StateStoreOptions {
  readonly world: Pick<World, "logger" | "nowMs">;
  /** Called at each write. */
  readonly snapshot: () => StateSnapshot;
  /** Another process has taken the file over. */
  readonly onLockLost: (error: StateLockedError) => void;
}

/**
 * A crash loses a minute of heights and statuses at most: the next polls report them again. A large fleet's file takes a quarter of a
 * second of CPU time and 32 MB. Half a second is for the write itself.
 */
const STATE_DELAY_MS = 59_500;
/** What the journal must hold before a request is sent does not wait: this is for the rest, and for the next try after a failure. */
const JOURNAL_DELAY_MS = 4_500;
/** The journal is rewritten after so many lines, which bounds it while the state file alone cannot be written. */
const MAX_LINES = 64;

/** Where nothing is kept, as in the demo. */
const NULL_STORE: StateStore = {
  restored: EMPTY_STATE,
  touch: () => undefined,
  touchJournal: () => undefined,
  problem: () => null,
  flush: () => Promise.resolve(),
  publishUrl: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/**
 * Locks a state file and reads it; a null path keeps nothing. Where the disk refuses, the daemon runs without: it polls
 * as ever, but no endpoint with a budget.
 *
 * @throws {StateLockedError} If a living process has the file.
 * @throws {StatePathError} If the path names something that is no state file.
 */
export async function openStateStore(path: string | null, options: StateStoreOptions): Promise<StateStore> {
  const { logger } = options.world;
  if (path === null) {
    return NULL_STORE;
  }
  try {
    return await open(await resolveStatePath(path), options);
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    logger.error(
      { detail: error.message },
      "State file unavailable; endpoints with a budget will not be polled",
    );
    return {
      ...NULL_STORE,
      problem: () => error.message,
      flush: () => Promise.reject(error),
    };
  }
}

async function open(path: string, options: StateStoreOptions): Promise<StateStore> {
  const { nowMs } = options.world;
  const lock = await lockStateFile(path, { nowMs, onLockLost: options.onLockLost });
  try {
    return createStore(path, { ...options, lock, restored: await loadState(path, options.world) });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

interface OpenedState extends StateStoreOptions {
  readonly lock: StateLock;
  readonly restored: RestoredState;
}

function createStore(path: string, { world, snapshot, lock, restored }: OpenedState): StateStore {
  const { logger } = world;
  let problem: string | null = null;
  let isStateOnDisk = false;
  // Up to which draw the journal can be appended to; null where it must be written anew.
  let journalled: number | null = null;
  let lines = 0;
  const journal = new DebouncedWriter({
    delayMs: JOURNAL_DELAY_MS,
    content: () => ({ after: journalled, drawn: snapshot().drawn(journalled) }),
    async write({ after, drawn }) {
      journalled = null;
      await lock.assertHeld();
      if (after === null || !(await appendToBudgetJournal(path, drawn.budgets))) {
        await writeBudgetJournal(path, snapshot().drawn(null).budgets);
        lines = 0;
      }
      lines += 1;
      journalled = lines < MAX_LINES ? drawn.sequence : null;
    },
    onFailure(error) {
      problem = messageOf(error);
      logger.error(
        { detail: problem },
        "Cannot write the budget journal; endpoints with a budget are paused",
      );
    },
    onRecovery() {
      problem = null;
      logger.info("Budget journal writable again");
    },
  });
  let writtenAheadMs: number | null = null;
  const stateFile = new DebouncedWriter({
    delayMs: STATE_DELAY_MS,
    content() {
      const { all, aheadMs } = snapshot();
      writtenAheadMs = aheadMs();
      return all();
    },
    async write({ state, onWritten }) {
      await lock.assertHeld();
      isStateOnDisk = false;
      await writeStateFile(path, state);
      isStateOnDisk = true;
      onWritten();
      journalled = null;
    },
    onFailure: (error) => logger.error({ detail: messageOf(error) }, "Cannot write the state file"),
    onRecovery: () => logger.info("State file writable again"),
  });
  return {
    restored,
    touch() {
      stateFile.touch();
      if (snapshot().aheadMs() !== (writtenAheadMs ?? 0)) {
        // A failure is told by the writer, which tries again.
        stateFile.flush().catch(() => undefined);
      }
    },
    touchJournal: () => journal.touch(),
    problem: () => problem,
    flush: () => journal.flush(),
    publishUrl: (url) => lock.publishUrl(url),
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      await stateFile[Symbol.asyncDispose]();
      if (isStateOnDisk) {
        await removeBudgetJournal(path);
      }
      await lock[Symbol.asyncDispose]();
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
