import { randomUUID } from "node:crypto";
import { unlink, utimes, writeFile } from "node:fs/promises";
import { pid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, isSystemError } from "../system-error.ts";
import { StateFileError } from "./file.ts";
import {
  findLockOwner,
  HEARTBEAT_MS,
  type LockOwner,
  lockPathOf,
  pidNamespace,
  readLockOwner,
} from "./lock-owner.ts";
import { writeAtomically } from "./write-atomically.ts";

export interface StateLockOptions {
  /** Where this process serves, as far as that is known before it does. */
  readonly url: string;
  readonly nowMs: () => number;
  /** Called once if another process has taken the state file over, though this one lives: it must stop. */
  readonly onLost: (error: StateHeldError) => void;
}

/** The right to write a state file. Disposing gives it back. */
export interface StateLock extends AsyncDisposable {
  /**
   * To be awaited before each write.
   *
   * @throws {StateHeldError} If another process has taken the file over.
   * @throws {StateFileError} If the disk refuses.
   */
  readonly assertHeld: () => Promise<void>;
  /** Says where this process really serves. */
  readonly announce: (url: string) => Promise<void>;
}

/** Another process holds the state file. */
export class StateHeldError extends Error {
  override readonly name = "StateHeldError";
  readonly holder: LockOwner;

  constructor(path: string, holder: LockOwner) {
    const since = new Date(holder.startedAtMs).toISOString();
    super(
      `Cannot use the state file ${path}: another synclag holds it (pid ${holder.pid}, started ${since}, ` +
        `listening on ${holder.url}); stop that one, or choose another file with --state`,
    );
    this.holder = holder;
  }
}

/** Two processes that take over one dead lock see within this time which of them has it. */
const SETTLE_MS = 250;

/**
 * Takes a state file for this process: a lock file beside it names the holder, whose touches show that it lives.
 *
 * The lock of a dead process is taken over. Whether one in another container or on another host is dead, and
 * whether a pid went to some other program, shows only by five seconds without a touch.
 *
 * @throws {StateHeldError} If a living process holds it.
 * @throws {StateFileError} If no lock can be written there.
 */
export async function lockStateFile(statePath: string, options: StateLockOptions): Promise<StateLock> {
  const me = {
    pid,
    place: await pidNamespace(),
    startedAtMs: options.nowMs(),
    url: options.url,
    token: randomUUID(),
  };
  try {
    await acquire(statePath, me);
  } catch (error) {
    if (hasCode(error, "EACCES", "ENOENT", "EROFS", "ENOSPC", "ENOTDIR", "EPERM")) {
      throw new StateFileError("lock", { path: statePath, cause: error });
    }
    throw error;
  }
  return hold(statePath, me, options);
}

async function acquire(statePath: string, me: LockOwner): Promise<void> {
  const path = lockPathOf(statePath);
  if (await create(path, me)) {
    return;
  }
  const holder = await findLockOwner(statePath);
  if (holder !== null) {
    throw new StateHeldError(statePath, holder);
  }
  await remove(path);
  await create(path, me);
  await sleep(SETTLE_MS);
  if ((await readLockOwner(path))?.token !== me.token) {
    await acquire(statePath, me);
  }
}

function hold(statePath: string, first: LockOwner, options: StateLockOptions): StateLock {
  const path = lockPathOf(statePath);
  let me = first;
  let isLost = false;

  async function assertHeld(): Promise<void> {
    try {
      const holder = await readLockOwner(path);
      if (holder !== null && holder.token !== me.token) {
        throw new StateHeldError(statePath, holder);
      }
      if (holder === null) {
        // Somebody removed it by hand.
        await create(path, me);
      }
    } catch (error) {
      throw isSystemError(error) ? new StateFileError("lock", { path: statePath, cause: error }) : error;
    }
  }

  async function beat(): Promise<void> {
    const now = new Date(options.nowMs());
    try {
      await assertHeld();
      await utimes(path, now, now);
    } catch (error) {
      // A disk that fails is told of by the writes of the state itself.
      if (error instanceof StateHeldError && !isLost) {
        isLost = true;
        options.onLost(error);
      }
    }
  }

  const heartbeat = setInterval(() => void beat(), HEARTBEAT_MS).unref();
  return {
    assertHeld,
    async announce(url) {
      me = { ...me, url };
      try {
        await writeAtomically(path, JSON.stringify(me));
      } catch (error) {
        // A disk that fails is told of by the writes of the state itself.
        if (!isSystemError(error)) {
          throw error;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      try {
        if ((await readLockOwner(path))?.token === me.token) {
          await remove(path);
        }
      } catch (error) {
        // A disk that fails keeps the lock, and whoever comes next sees that its holder is gone.
        if (!isSystemError(error)) {
          throw error;
        }
      }
    },
  };
}

/** False if there is one already. */
async function create(path: string, holder: LockOwner): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(holder), { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      return false;
    }
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) {
      throw error;
    }
  }
}
