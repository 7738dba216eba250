import { readFile, readlink, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { kill, pid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { LATEST_MS } from "../../core/model/observation.ts";
import { hasCode } from "../system-error.ts";

/** The process that holds a state file, as its lock names it. */
export interface LockOwner {
  readonly pid: number;
  /** The host, and on Linux the namespace of the pid: a container has its own. */
  readonly place: string;
  readonly startedAtMs: number;
  /** Where it serves, such as `http://127.0.0.1:9855`. */
  readonly url: string;
  /** Differs for each owner: pids are reused. */
  readonly token: string;
}

/** How often an owner touches its lock, unless it is told otherwise. */
export const HEARTBEAT_MS = 1_000;
/** An owner that missed so many is gone, or suspended: then it finds out before it writes again. */
const MAX_MISSED = 5;
const LOOKS_PER_HEARTBEAT = 10;

const LockOwnerJson = z.object({
  pid: z.int(),
  place: z.string(),
  startedAtMs: z.number().nonnegative().max(LATEST_MS),
  url: z.string(),
  token: z.string(),
});

/** The lock file beside a state file. */
export function lockPathOf(statePath: string): string {
  return `${statePath}.lock`;
}

/** The living process that holds the state file at this real path, or null. Takes seconds where its heartbeat must be awaited. */
export async function findLockOwner(
  statePath: string,
  heartbeatMs = HEARTBEAT_MS,
): Promise<LockOwner | null> {
  const path = lockPathOf(statePath);
  const owner = await readLockOwner(path);
  if (owner === null && (await changedAtMs(path)) === null) {
    return null;
  }
  const here = await pidNamespace();
  if (owner !== null && owner.place === here && !isAnotherLivingProcess(owner.pid)) {
    return null;
  }
  return (await hasHeartbeat(path, heartbeatMs)) ? await readLockOwner(path) : null;
}

/** The owner that a lock names, living or not; null where there is no lock, or an invalid one. */
export async function readLockOwner(lockPath: string): Promise<LockOwner | null> {
  try {
    const parsed = LockOwnerJson.safeParse(JSON.parse(await readFile(lockPath, "utf8")));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}

/** Identifies the host and the namespace of our pid. */
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

/** A lock with our own pid was left by an earlier process: in a container, each may be pid 1. */
function isAnotherLivingProcess(ownerPid: number): boolean {
  if (ownerPid === pid) {
    return false;
  }
  try {
    kill(ownerPid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and runs as another user.
    return !hasCode(error, "ESRCH");
  }
}

/** Watches a lock for a touch by its owner; no clocks are compared, since they may be those of two hosts. */
async function hasHeartbeat(path: string, heartbeatMs: number): Promise<boolean> {
  const before = await changedAtMs(path);
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
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}
