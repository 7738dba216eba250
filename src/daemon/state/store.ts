import { type SavedState, StateFileError, writeStateFile } from "../../io/state/file.ts";
import { removeBudgetJournal, writeBudgetJournal } from "../../io/state/journal.ts";
import { lockStateFile, type StateHeldError, type StateLock } from "../../io/state/lock.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../world.ts";
import { loadState } from "./load.ts";
import { EMPTY_STATE, type RestoredState } from "./restored-state.ts";

/** What there is to be kept. */
export interface StateSnapshot {
  /** Everything. `onWritten` is called once that is on disk. */
  readonly all: () => { readonly state: SavedState; readonly onWritten: () => void };
  /** The budgets that were drawn on since. */
  readonly drawn: () => unknown;
}

/** Keeps what must outlive the process. Disposing it writes for the last time. */
export interface StateStore extends AsyncDisposable {
  /** What the former process knew. */
  readonly remembered: RestoredState;
  /** Something changed: to be on disk within five seconds. */
  readonly touch: () => void;
  /** Why nothing can be put on disk now, or null. */
  readonly problem: () => string | null;
  /** Waits until all that was drawn from budgets is on disk. @throws If it isn't: then nothing may be sent. */
  readonly recorded: () => Promise<void>;
  /** Tells where this process serves, for others that want the same file. */
  readonly announce: (url: string) => Promise<void>;
}

export interface StateStoreOptions {
  readonly world: Pick<World, "logger" | "nowMs">;
  /** Asked at each writing. */
  readonly keepsake: () => StateSnapshot;
  /** Another process has taken the file over. */
  readonly onLost: (error: StateHeldError) => void;
}

/** Where nothing is to be kept, as in the demo. */
const KEEPS_NOTHING: StateStore = {
  remembered: EMPTY_STATE,
  touch: () => undefined,
  problem: () => null,
  recorded: () => Promise.resolve(),
  announce: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/**
 * Takes a state file for this process, and reads it; null keeps nothing. Where that can't be done, the daemon is told so and runs without:
 * it watches as ever, and spends nothing of a budget.
 *
 * @throws {StateHeldError} If a living process has the file.
 */
export async function openStateStore(path: string | null, options: StateStoreOptions): Promise<StateStore> {
  const { logger } = options.world;
  if (path === null) {
    return KEEPS_NOTHING;
  }
  try {
    return await open(path, options);
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    logger.error({ detail: error.message }, "No state is kept: endpoints with a budget are not polled");
    return {
      ...KEEPS_NOTHING,
      problem: () => error.message,
      recorded: () => Promise.reject(error),
    };
  }
}

async function open(path: string, options: StateStoreOptions): Promise<StateStore> {
  const { nowMs } = options.world;
  const lock = await lockStateFile(path, { url: "", nowMs, onLost: options.onLost });
  try {
    return write(path, { ...options, lock, remembered: await loadState(path, options.world) });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

interface Writing extends StateStoreOptions {
  readonly lock: StateLock;
  readonly remembered: RestoredState;
}

function write(path: string, { world, keepsake, lock, remembered }: Writing): StateStore {
  const { logger } = world;
  let problem: string | null = null;
  let isStateOnDisk = false;
  const journal = new DebouncedWriter({
    content: () => keepsake().drawn(),
    async write(drawn) {
      await lock.assertHeld();
      await writeBudgetJournal(path, drawn);
    },
    onFailure(error) {
      problem = messageOf(error);
      logger.error(
        { detail: problem },
        "Cannot record what is spent: endpoints with a budget are not polled",
      );
    },
    onRecovery() {
      problem = null;
      logger.info("What is spent is recorded again");
    },
  });
  const saver = new DebouncedWriter({
    content: () => keepsake().all(),
    async write({ state, onWritten }) {
      await lock.assertHeld();
      isStateOnDisk = false;
      await writeStateFile(path, state);
      isStateOnDisk = true;
      onWritten();
    },
    onFailure: (error) => logger.error({ detail: messageOf(error) }, "Cannot write the state file"),
    onRecovery: () => logger.info("The state file is written again"),
  });
  return {
    remembered,
    touch: () => saver.touch(),
    problem: () => problem,
    recorded: () => journal.recorded(),
    announce: (url) => lock.announce(url),
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      await saver[Symbol.asyncDispose]();
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
