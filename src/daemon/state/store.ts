import { LocalBudgets } from "../../budgets/gate.ts";
import { NOTHING_SPENT } from "../../budgets/saved-budgets.ts";
import type { Fleet } from "../../core/model/fleet.ts";
import { EMPTY_STATE, loadState, type RestoredState, writeStateFile } from "../../io/state/file.ts";
import { appendToBudgetJournal, removeBudgetJournal, writeBudgetJournal } from "../../io/state/journal.ts";
import { lockStateFile, type StateLock, type StateLockedError } from "../../io/state/lock.ts";
import type { KnownState } from "../../io/state/parts.ts";
import { resolveStatePath, StateFileError } from "../../io/state/path.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../io/world.ts";

/** Keeps the state and the budgets on disk. Disposing it writes for the last time. */
export type StateStore = ReturnType<typeof createStore>;

export interface StateStoreOptions {
  readonly world: Pick<World, "logger" | "nowMs" | "monotonicMs">;
  /** The current state to write in addition to the budgets. Called at each write. */
  readonly state: () => KnownState;
  readonly onLockLost: (error: StateLockedError) => void;
}

/**
 * A crash loses at most a minute of heights, which the next polls report again. A large fleet's file takes a quarter of a
 * second of CPU time and 32 MB; half a second of the minute is left for the write itself.
 */
export const STATE_DELAY_MS = 59_500;
/** A change of status is written sooner, because the next polls cannot find out its time. */
export const STATUS_DELAY_MS = 4_500;
/** Entries that must precede a request are written at once; this delay is for other entries, and for retries. */
const JOURNAL_DELAY_MS = 4_500;
/** The journal is rewritten after this number of lines, so that it stays short even if the state file cannot be written. */
const MAX_LINES = 64;

/**
 * Locks a state file and reads it; a null path keeps nothing. If the disk refuses, the daemon runs without a file: it polls only
 * endpoints that have no budget.
 *
 * @throws {StateLockedError} If a living process holds its lock.
 * @throws {StatePathError} If the path names something that is not a state file.
 */
export async function openStateStore(
  path: string | null,
  fleet: Fleet,
  options: StateStoreOptions,
): Promise<StateStore> {
  const { world, onLockLost } = options;
  if (path === null) {
    return withoutFile(fleet, null, world);
  }
  try {
    const real = await resolveStatePath(path);
    const lock = await lockStateFile(real, { nowMs: world.nowMs, onLockLost });
    try {
      return createStore(real, lock, await loadState(real, world), fleet, options);
    } catch (error) {
      await lock[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    world.logger.error(
      { detail: error.message },
      "State file unavailable; endpoints with a budget will not be polled",
    );
    return withoutFile(fleet, error, world);
  }
}

/** Keeps nothing: for the demo, or after a disk error. */
function withoutFile(
  fleet: Fleet,
  problem: StateFileError | null,
  world: StateStoreOptions["world"],
): StateStore {
  const { budgets, nowMs } = new LocalBudgets(fleet, NOTHING_SPENT, world);
  return {
    budgets,
    nowMs,
    restored: EMPTY_STATE,
    touch: () => undefined,
    touchSoon: () => undefined,
    touchJournal: () => undefined,
    problem: () => problem?.message ?? null,
    flush: () => (problem === null ? Promise.resolve() : Promise.reject(problem)),
    publishUrl: () => Promise.resolve(),
    assertHeld: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function createStore(
  path: string,
  lock: StateLock,
  restored: RestoredState,
  fleet: Fleet,
  { world, state }: StateStoreOptions,
) {
  const { logger, nowMs } = world;
  const local = new LocalBudgets(fleet, restored.budgets, world);
  // The sequence number of the last change in the journal; null: the journal must be rewritten.
  let journalled: number | null = null;
  let lines = 0;
  const journal = new DebouncedWriter({
    delayMs: JOURNAL_DELAY_MS,
    async write() {
      const [after, sequence] = [journalled, local.budgets.sequence()];
      journalled = null;
      await lock.assertHeld();
      if (after !== null && (await appendToBudgetJournal(path, local.save(after)))) {
        lines += 1;
      } else {
        await writeBudgetJournal(path, local.save(0));
        lines = 1;
      }
      // If another process took the file over while this one was suspended, it has not read this line, so the line does not count.
      await lock.assertHeld();
      journalled = lines < MAX_LINES ? sequence : null;
    },
    onFailure: (detail) =>
      logger.error({ detail }, "Cannot write the budget journal; endpoints with a budget are paused"),
    onRecovery: () => logger.info("Budget journal writable again"),
  });
  let isOnDisk = false;
  let writtenAheadMs = 0;
  const stateFile = new DebouncedWriter({
    delayMs: STATE_DELAY_MS,
    async write() {
      const sequence = local.budgets.sequence();
      writtenAheadMs = local.aheadMs();
      const all = { savedAtMs: nowMs(), ...state(), budgets: local.save() };
      isOnDisk = false;
      await lock.assertHeld();
      await writeStateFile(path, all);
      isOnDisk = true;
      local.budgets.forgetChanges(sequence);
      journalled = null;
    },
    onFailure: (detail) => logger.error({ detail }, "Cannot write the state file"),
    onRecovery: () => logger.info("State file writable again"),
  });
  return {
    budgets: local.budgets,
    nowMs: local.nowMs,
    restored,
    /** Writes the state within a minute; at once if the wall clock has jumped, because recorded spending must be shifted. */
    touch: () => stateFile.touch(local.aheadMs() === writtenAheadMs ? STATE_DELAY_MS : 0),
    /** Writes the state within five seconds, because a status has changed. */
    touchSoon: () => stateFile.touch(STATUS_DELAY_MS),
    touchJournal: () => journal.touch(),
    problem: () => journal.problem,
    flush: () => journal.flush(),
    /** Writes the server's URL into the lock, for `check` and for other processes that want the same file. */
    publishUrl: (url: string) => lock.publishUrl(url),
    /** To be awaited before a file beside the state file is written. @throws As `StateLock.assertHeld`. */
    assertHeld: () => lock.assertHeld(),
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      await stateFile[Symbol.asyncDispose]();
      if (isOnDisk) {
        await removeBudgetJournal(path);
      }
      await lock[Symbol.asyncDispose]();
    },
  };
}
