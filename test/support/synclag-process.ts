import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What a finished `synclag` left behind. */
export interface Finished {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** A `synclag` that runs in a process of its own, from the sources. Disposing kills it. */
export interface SynclagProcess extends AsyncDisposable {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Settles with the first text on stderr that matches; rejects when the process ends before. */
  readonly logged: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
}

export interface SynclagOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A redirection of the shell, such as `2>/dev/full`. */
  readonly redirect?: string;
  /** The most file descriptors. */
  readonly openFiles?: number;
}

/** Starts `synclag` with these arguments, as a user would. */
export function startSynclag(args: readonly string[], options: SynclagOptions): SynclagProcess {
  const limit = options.openFiles === undefined ? "" : `ulimit -n ${options.openFiles};`;
  const script = `${limit} exec "$0" "$@" ${options.redirect ?? ""}`;
  const command = [process.execPath, "--import", import.meta.resolve("tsx"), `${ROOT}src/main.ts`, ...args];
  const child = spawn("/bin/sh", ["-c", script, ...command], {
    cwd: options.cwd,
    env: { PATH: "/usr/bin:/bin", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const finished = once(child, "close").then((): Finished => ({ exitCode: child.exitCode, out, err }));
  return {
    child,
    finished,
    logged: async (pattern) => {
      for (;;) {
        const match = pattern.exec(err);
        if (match !== null) {
          return match;
        }
        if (child.exitCode !== null) {
          throw new Error(`Cannot find ${pattern.source} in the log: the process ended after ${err}`);
        }
        await Promise.race([once(child.stderr, "data"), finished]);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await finished;
    },
  };
}

/** Runs `synclag` to its end. */
export async function runSynclag(...[args, options]: Parameters<typeof startSynclag>): Promise<Finished> {
  await using running = startSynclag(args, options);
  return await running.finished;
}
