import { utimesSync, writeFileSync } from "node:fs";
import { ppid } from "node:process";
import { lockPathOf } from "../../src/io/state/lock.ts";

/** The parent of this process as the holder of a state file that serves at a URL: its lock is renewed as if it ran Synclag. */
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
