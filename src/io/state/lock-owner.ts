import { readFile, readlink, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { kill, pid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { hasCode } from "../system-error.ts";

/** The process that a state file belongs to, as its lock names it. */
export interface LockOwner {
  readonly pid: number;
  /** The host, and on Linux the namespace that the pid means something in: a container has its own. */
  readonly place: string;
  readonly startedAtMs: number;
  /** Where it serves, such as `http://127.0.0.1:9855`. */
  readonly url: string;
  /** Differs for each holder: pids come back. */
  readonly token: string;
}

/** A holder touches its lock this often. */
export const HEARTBEAT_MS = 1_000;
/** One that has not for so long is gone, or suspended: it finds out before it writes again. */
const SILENCE_MS = 5 * HEARTBEAT_MS;
const LOOK_MS = 100;

const HolderJson = z.object({
  pid: z.int(),
  place: z.string(),
  startedAtMs: z.number(),
  url: z.string(),
  token: z.string(),
});

/** The file beside a state file that says whose it is. */
export function lockPathOf(statePath: string): string {
  return `${statePath}.lock`;
}

/** The living process that holds a state file, or null. May take seconds where that is in doubt. */
export async function findLockOwner(statePath: string): Promise<LockOwner | null> {
  const path = lockPathOf(statePath);
  const holder = await readLockOwner(path);
  if (holder === null && (await changedAtMs(path)) === null) {
    return null;
  }
  const here = await pidNamespace();
  if (holder !== null && holder.place === here && !isAnotherLivingProcess(holder.pid)) {
    return null;
  }
  return (await hasHeartbeat(path)) ? await readLockOwner(path) : null;
}

/** What a lock says, whether its holder lives or not; null where there is none, or none that can be read. */
export async function readLockOwner(lockPath: string): Promise<LockOwner | null> {
  try {
    const parsed = HolderJson.safeParse(JSON.parse(await readFile(lockPath, "utf8")));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}

/** Where a pid means what it means here. */
export async function pidNamespace(): Promise<string> {
  try {
    return `${hostname()} ${await readlink("/proc/self/ns/pid")}`;
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      return hostname();
    }
    throw error;
  }
}

/** A lock with our own pid is of a process that had it before: in a container, every one may be pid 1. */
function isAnotherLivingProcess(holderPid: number): boolean {
  if (holderPid === pid) {
    return false;
  }
  try {
    kill(holderPid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and belongs to another user.
    return !hasCode(error, "ESRCH");
  }
}

/** Watches a lock for a touch of its holder; no clocks are compared, since they may be those of two hosts. */
async function hasHeartbeat(path: string): Promise<boolean> {
  const before = await changedAtMs(path);
  for (let waitedMs = 0; waitedMs < SILENCE_MS; waitedMs += LOOK_MS) {
    await sleep(LOOK_MS);
    const now = await changedAtMs(path);
    if (now !== before) {
      return now !== null;
    }
  }
  return false;
}

async function changedAtMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}
