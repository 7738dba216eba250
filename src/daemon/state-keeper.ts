import { removeBudgetJournal, writeBudgetJournal } from "../io/budget-journal.ts";
import { type SavedState, StateFileError, writeStateFile } from "../io/state-file.ts";
import { lockStateFile, type StateHeldError, type StateLock } from "../io/state-lock.ts";
import { StateSaver } from "../io/state-saver.ts";
import type { World } from "../world.ts";
import { recall } from "./recall.ts";
import { NOTHING_REMEMBERED, type Remembered } from "./remembered.ts";

/** What there is to be kept. */
export interface Keepsake {
  /** Everything. `onWritten` is called once that is on disk. */
  readonly all: () => { readonly state: SavedState; readonly onWritten: () => void };
  /** The budgets that were drawn on since. */
  readonly drawn: () => unknown;
}

/** Keeps what must outlive the process. Disposing it writes for the last time. */
export interface StateKeeper extends AsyncDisposable {
  /** What the former process knew. */
  readonly remembered: Remembered;
  /** Something changed: to be on disk within five seconds. */
  readonly touch: () => void;
  /** Why nothing can be put on disk now, or null. */
  readonly problem: () => string | null;
  /** Waits until all that was drawn from budgets is on disk. @throws If it isn't: then nothing may be sent. */
  readonly recorded: () => Promise<void>;
  /** Tells where this process serves, for others that want the same file. */
  readonly announce: (url: string) => Promise<void>;
}

export interface StateKeeperOptions {
  readonly world: Pick<World, "logger" | "nowMs">;
  /** Asked at each writing. */
  readonly keepsake: () => Keepsake;
  /** Another process has taken the file over. */
  readonly onLost: (error: StateHeldError) => void;
}

/** Where nothing is to be kept, as in the demo. */
const KEEPS_NOTHING: StateKeeper = {
  remembered: NOTHING_REMEMBERED,
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
export async function keepState(path: string | null, options: StateKeeperOptions): Promise<StateKeeper> {
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

async function open(path: string, options: StateKeeperOptions): Promise<StateKeeper> {
  const { nowMs } = options.world;
  const lock = await lockStateFile(path, { url: "", nowMs, onLost: options.onLost });
  try {
    return write(path, { ...options, lock, remembered: await recall(path, options.world) });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

interface Writing extends StateKeeperOptions {
  readonly lock: StateLock;
  readonly remembered: Remembered;
}

function write(path: string, { world, keepsake, lock, remembered }: Writing): StateKeeper {
  const { logger } = world;
  let problem: string | null = null;
  let isStateOnDisk = false;
  const journal = new StateSaver({
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
  const saver = new StateSaver({
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
