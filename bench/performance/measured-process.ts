import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

/** A program under measurement, seen from outside by what Linux counts of it (proc(5)). */
export interface MeasuredProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stderr: () => string;
  /** CPU time of all its threads so far, user and system, in milliseconds; in steps of 10 ms. */
  readonly cpuMs: () => Promise<number>;
  /** What of it is in memory now, in MB. */
  readonly rssMb: () => Promise<number>;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Linux' USER_HZ, which is 100 on all architectures that Node runs on. */
const TICK_MS = 10;
const KIB_IN_MB = 1_024 / 1e6;

/** Starts a program; disposing ends it by SIGTERM. */
export function startMeasured({ command, args, env = {} }: Command): MeasuredProcess {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const pid = child.pid;
  if (pid === undefined) {
    throw new Error(`Cannot start ${command}: is it installed?`);
  }
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    // The end of it tells why it failed; all of a long run would be held for nothing.
    stderr = `${stderr}${chunk}`.slice(-10_000);
  });
  return {
    pid,
    stderr: () => stderr,
    async cpuMs() {
      // The second field is the program's name in parentheses, which may hold anything.
      const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ");
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    async rssMb() {
      const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(kib) * KIB_IN_MB;
    },
    async [Symbol.asyncDispose]() {
      await end(child);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}
