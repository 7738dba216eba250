import { randomUUID } from "node:crypto";
import { stat, unlink, utimes, writeFile } from "node:fs/promises";
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
import { pathProblem, StatePathError } from "./path.ts";
import { writeAtomically } from "./write-atomically.ts";

export interface StateLockOptions {
  /** The URL of this process's server, empty while it is unknown. */
  readonly url: string;
  readonly nowMs: () => number;
  /** Called once if another process has taken the state file over while this one lives: it must stop. */
  readonly onLockLost: (error: StateLockedError) => void;
  /** How often the lock is touched; the same for all that share a state file. Default: every second. */
  readonly heartbeatMs?: number;
}

/** The right to write a state file. Disposing gives it back. */
export interface StateLock extends AsyncDisposable {
  /**
   * To be awaited before each write.
   *
   * @throws {StateLockedError} If another process has taken the file over.
   * @throws {StateFileError} If the disk refuses.
   */
  readonly assertHeld: () => Promise<void>;
  /** Writes the URL of this process's server into the lock. */
  readonly publishUrl: (url: string) => Promise<void>;
}

/** Another process holds the state file. */
export class StateLockedError extends Error {
  override readonly name = "StateLockedError";
  readonly owner: LockOwner;

  constructor(path: string, owner: LockOwner) {
    const since = new Date(owner.startedAtMs).toISOString();
    super(
      `Cannot use the state file ${path}: another synclag holds it (pid ${owner.pid}, started ${since}, ` +
        `listening on ${owner.url}); stop that one, or choose another file with --state`,
    );
    this.owner = owner;
  }
}

/** Two processes that take over one dead lock both know within this time which of them has it. */
const SETTLE_MS = 250;

/**
 * Locks a state file for this process: a lock file beside it names the owner, whose touches show that it lives.
 *
 * The lock of a dead process is taken over. A process in another container or on another host, or a pid that some
 * other program has now, counts as dead after five seconds without a touch.
 *
 * @throws {StateLockedError} If a living process holds it.
 * @throws {StateFileError} If no lock can be written there.
 * @throws {StatePathError} If the lock's name is too long.
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
    await acquire(statePath, me, options.heartbeatMs);
  } catch (error) {
    const problem = pathProblem(error);
    if (problem !== null) {
      throw new StatePathError(problem, { path: statePath, cause: error });
    }
    throw isSystemError(error) ? new StateFileError("lock", { path: statePath, cause: error }) : error;
  }
  return hold(statePath, me, options);
}

async function acquire(statePath: string, me: LockOwner, heartbeatMs?: number): Promise<void> {
  const path = lockPathOf(statePath);
  if (await create(path, me)) {
    return;
  }
  const owner = await findLockOwner(statePath, heartbeatMs);
  if (owner !== null) {
    throw new StateLockedError(statePath, owner);
  }
  await remove(path);
  await create(path, me);
  await sleep(SETTLE_MS);
  if ((await readLockOwner(path))?.token !== me.token) {
    await acquire(statePath, me, heartbeatMs);
  }
}

function hold(statePath: string, first: LockOwner, options: StateLockOptions): StateLock {
  const path = lockPathOf(statePath);
  let me = first;
  let isLost = false;
  /** The lock as the last beat left it. */
  let touched: string | null = null;

  async function assertHeld(): Promise<void> {
    try {
      const owner = await readLockOwner(path);
      if (owner !== null && owner.token !== me.token) {
        throw new StateLockedError(statePath, owner);
      }
      if (owner === null) {
        // It was removed by hand.
        await create(path, me);
      }
    } catch (error) {
      throw isSystemError(error) ? new StateFileError("lock", { path: statePath, cause: error }) : error;
    }
  }

  async function beat(): Promise<void> {
    const now = new Date(options.nowMs());
    try {
      // Opened only if somebody changed it: each write looks into it anyway.
      if (touched === null || (await identityOf(path)) !== touched) {
        await assertHeld();
      }
      await utimes(path, now, now);
      touched = await identityOf(path);
    } catch (error) {
      touched = null;
      // A failing disk is reported by the writes of the state itself.
      if (error instanceof StateLockedError && !isLost) {
        isLost = true;
        options.onLockLost(error);
      }
    }
  }

  const heartbeat = setInterval(() => void beat(), options.heartbeatMs ?? HEARTBEAT_MS).unref();
  return {
    assertHeld,
    async publishUrl(url) {
      me = { ...me, url };
      try {
        await writeAtomically(path, JSON.stringify(me));
      } catch (error) {
        // A failing disk is reported by the writes of the state itself.
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
        // The lock stays on a failing disk; the next process sees that its owner is gone.
        if (!isSystemError(error)) {
          throw error;
        }
      }
    },
  };
}

/** Tells a file from another one at the same path, and from itself after a change. */
async function identityOf(path: string): Promise<string> {
  const { dev, ino, mtimeNs } = await stat(path, { bigint: true });
  return `${dev} ${ino} ${mtimeNs}`;
}

/** False if there is one already. */
async function create(path: string, owner: LockOwner): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(owner), { flag: "wx" });
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
