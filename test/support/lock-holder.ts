import { utimesSync, writeFileSync } from "node:fs";
import { ppid } from "node:process";
import { lockPathOf } from "../../src/io/state/lock.ts";

/** Another living process that holds a state file and serves at a URL: the parent of this one, in whose name the lock is touched. */
export async function holdAsAnother(
  statePath: string,
  url: string,
): Promise<{ readonly pid: number } & Disposable> {
  const path = lockPathOf(statePath);
  const owner = { pid: ppid, startedAtMs: Date.now(), url, token: "theirs" };
  writeFileSync(path, JSON.stringify(owner));
  let touches = 0;
  const timer = setInterval(() => {
    touches += 1;
    utimesSync(path, touches, touches);
  }, 10);
  return {
    pid: ppid,
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
