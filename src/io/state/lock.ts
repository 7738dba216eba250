import { randomUUID } from "node:crypto";
import { readFile, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { pid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { LATEST_MS } from "../../core/model/observation.ts";
import { parseJson } from "../../core/model/text.ts";
import { orNull } from "../system-error.ts";
import { writeAtomically } from "./kept-file.ts";
import { onStateFile } from "./path.ts";

const LockOwnerJson = z.object({
  pid: z.int(),
  startedAtMs: z.number().nonnegative().max(LATEST_MS),
  /** The URL of the owner's server, such as `http://127.0.0.1:9855`; empty while unknown. */
  url: z.string(),
  /** Differs for each owner: pids are reused. */
  token: z.string(),
});

/** The process that holds a state file, as its lock names it. */
export type LockOwner = Readonly<z.infer<typeof LockOwnerJson>>;

export interface StateLockOptions {
  readonly nowMs: () => number;
  /** Called once if another process took over the state file: this process must stop. */
  readonly onLockLost: (error: StateLockedError) => void;
  /** The time between two touches of the lock, equal in all processes that share a state file. Default: 1 s. */
  readonly heartbeatMs?: number;
}

/** The right to write a state file. Disposing gives it back. */
export type StateLock = ReturnType<typeof hold>;

/** Another process holds the state file. */
export class StateLockedError extends Error {
  override readonly name = "StateLockedError";
  readonly owner: LockOwner;

  constructor(path: string, owner: LockOwner) {
    const since = new Date(owner.startedAtMs).toISOString();
    const holder = `pid ${owner.pid}, started ${since}${owner.url === "" ? "" : `, listening on ${owner.url}`}`;
    super(
      `Cannot use the state file ${path}: another synclag holds it (${holder}); stop that process, or choose another file with --state`,
    );
    this.owner = owner;
  }
}

const HEARTBEAT_MS = 1_000;
/** An owner that missed this number of touches is gone, or suspended; a suspended owner notices before it writes again. */
const MAX_MISSED = 5;
const LOOKS_PER_HEARTBEAT = 10;
/** After two processes take over one dead lock, both know within this time which of them has it. */
const SETTLE_MS = 250;

/** The lock file next to a state file. */
export function lockPathOf(statePath: string): string {
  return `${statePath}.lock`;
}

/**
 * Locks a state file for this process: a lock file beside it names the owner. The owner touches the lock file each second.
 *
 * After five seconds without a touch, the owner is dead and the lock is taken over. The pid proves nothing: the owner may run in
 * another container or on another host, or another program may have its pid now.
 *
 * @throws {StateLockedError} If a living process holds the lock.
 * @throws {StateFileError} If the lock file cannot be written.
 */
export async function lockStateFile(statePath: string, options: StateLockOptions): Promise<StateLock> {
  const me = { pid, startedAtMs: options.nowMs(), url: "", token: randomUUID() };
  await onStateFile("lock", statePath, () => acquire(statePath, me, options.heartbeatMs));
  return hold(statePath, me, options);
}

async function acquire(statePath: string, me: LockOwner, heartbeatMs = HEARTBEAT_MS): Promise<void> {
  const path = lockPathOf(statePath);
  if (await create(path, me)) {
    return;
  }
  const owner = (await hasHeartbeat(path, heartbeatMs)) ? await readOwner(path) : null;
  if (owner !== null) {
    throw new StateLockedError(statePath, owner);
  }
  await orNull(unlink(path), "ENOENT");
  await create(path, me);
  await sleep(SETTLE_MS);
  if ((await readOwner(path))?.token !== me.token) {
    await acquire(statePath, me, heartbeatMs);
  }
}

function hold(statePath: string, taken: LockOwner, options: StateLockOptions) {
  const { nowMs, onLockLost, heartbeatMs = HEARTBEAT_MS } = options;
  const path = lockPathOf(statePath);
  let me = taken;
  /** Whether the lock names the URL. */
  let isPublished = true;
  let isLost = false;
  /** The touches under way, one after the other. */
  let touches = Promise.resolve();
  let touchCount = 0;

  async function assertHeld(): Promise<void> {
    const owner = await readOwner(path);
    if (owner !== null && owner.token !== me.token) {
      throw new StateLockedError(statePath, owner);
    }
    if (owner === null) {
      // Somebody removed the lock file.
      await create(path, me);
    }
  }

  /** Touches the lock after the touches under way. */
  function beat(): Promise<void> {
    touchCount += 1;
    touches = touches.then(touch).finally(() => {
      touchCount -= 1;
    });
    return touches;
  }

  async function touch(): Promise<void> {
    const now = new Date(nowMs());
    try {
      await assertHeld();
      await utimes(path, now, now);
      if (!isPublished) {
        await writeAtomically(path, JSON.stringify(me));
        isPublished = true;
      }
    } catch (error) {
      // A failing disk is reported by the writes of the state itself.
      if (error instanceof StateLockedError && !isLost) {
        isLost = true;
        onLockLost(error);
      }
    }
  }

  const heartbeat = setInterval(() => {
    // While the disk hangs, touches must not pile up.
    if (touchCount === 0) {
      void beat();
    }
  }, heartbeatMs).unref();
  return {
    /**
     * Call this before each write.
     *
     * @throws {StateLockedError} If another process has taken the file over.
     * @throws {StateFileError} If the lock file cannot be read or written.
     */
    assertHeld: () => onStateFile("lock", statePath, assertHeld),
    /** Writes the URL of this process's server into the lock. A failed write is tried again with each touch. */
    async publishUrl(url: string) {
      me = { ...me, url };
      isPublished = false;
      await beat();
    },
    /** Removes the lock file. If that fails, the next process takes over the lock once it is no longer touched. */
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      // A touch under way could write the lock again after its removal.
      await touches;
      if ((await orNull(readOwner(path)))?.token === me.token) {
        await orNull(unlink(path));
      }
    },
  };
}

/** The owner that a lock names, living or not; null without a valid lock. */
async function readOwner(lockPath: string): Promise<LockOwner | null> {
  const text = await orNull(readFile(lockPath, "utf8"), "ENOENT");
  return LockOwnerJson.safeParse(parseJson(text ?? "")).data ?? null;
}

/** Watches a lock until its owner touches it. It does not compare clocks, because the owner may run on another host. */
async function hasHeartbeat(path: string, heartbeatMs: number): Promise<boolean> {
  const before = await changedAtMs(path);
  if (before === null) {
    return false;
  }
  for (let look = 0; look < MAX_MISSED * LOOKS_PER_HEARTBEAT; look += 1) {
    await sleep(heartbeatMs / LOOKS_PER_HEARTBEAT);
    const now = await changedAtMs(path);
    if (now !== before) {
      return now !== null;
    }
  }
  return false;
}

async function changedAtMs(path: string): Promise<number | null> {
  return (await orNull(stat(path), "ENOENT"))?.mtimeMs ?? null;
}

/** Creates the lock; false if there is one already. */
async function create(path: string, owner: LockOwner): Promise<boolean> {
  return (await orNull(writeFile(path, JSON.stringify(owner), { flag: "wx" }), "EEXIST")) !== null;
}
