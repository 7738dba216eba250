import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

/** A program under measurement, seen from outside by what Linux counts of it (proc(5)). */
export interface MeasuredProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stderr: () => string;
  readonly hasEnded: () => boolean;
  /** CPU time of all its threads so far, user and system, in milliseconds; without threads that have ended. */
  readonly cpuMs: () => Promise<number>;
  readonly residentMb: () => Promise<ResidentMb>;
  /** Bytes that it had written to storage so far, in whole pages of 4 kB (`write_bytes` of /proc/PID/io). */
  readonly writtenBytes: () => Promise<number>;
}

/** What of a process is in memory, in MB. */
export interface ResidentMb {
  readonly rssMb: number;
  /** The part that no file backs (RssAnon of proc(5)). */
  readonly anonymousMb: number;
  /** The most that it ever was, all of it (VmHWM). */
  readonly peakMb: number;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const NS_IN_MS = 1e6;
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
    hasEnded: () => hasEnded(child),
    async cpuMs() {
      // In nanoseconds, where /proc/PID/stat has steps of ten milliseconds.
      const threads = await readdir(`/proc/${pid}/task`);
      const texts = await Promise.all(
        threads.map((id) => readFile(`/proc/${pid}/task/${id}/schedstat`, "utf8")),
      );
      return texts.reduce((sum, text) => sum + Number.parseInt(text, 10) / NS_IN_MS, 0);
    },
    residentMb: () => residentMb(pid),
    async writtenBytes() {
      const [, bytes] = /^write_bytes: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, "utf8")) ?? [];
      return Number(bytes);
    },
    async [Symbol.asyncDispose]() {
      await end(child);
    },
  };
}

/** As `MeasuredProcess` has it, of any process. */
export async function residentMb(pid: number): Promise<ResidentMb> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * KIB_IN_MB;
  return { rssMb: megabytes("VmRSS"), anonymousMb: megabytes("RssAnon"), peakMb: megabytes("VmHWM") };
}

async function end(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
