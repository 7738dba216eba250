import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

/** A Node process whose CPU time and memory are read from /proc, as Linux counts them (proc(5)). */
export interface MeasuredProcess extends AsyncDisposable {
  readonly stderr: () => string;
  readonly hasEnded: () => boolean;
  /** CPU time of all its threads so far, user and system, in milliseconds; without threads that have ended. */
  readonly cpuMs: () => Promise<number>;
  readonly residentMb: () => Promise<ResidentMb>;
}

/** The resident memory of a process, in MB: now, and at its peak. */
interface ResidentMb {
  readonly rssMb: number;
  readonly peakMb: number;
}

const NS_IN_MS = 1e6;
const KIB_IN_MB = 1_024 / 1e6;

/** Starts Node with these arguments; disposing ends it by SIGTERM. */
export function startMeasured(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): MeasuredProcess {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    // The end is enough: it says why the process failed.
    stderr = `${stderr}${chunk}`.slice(-10_000);
  });
  return {
    stderr: () => stderr,
    hasEnded,
    async cpuMs() {
      // schedstat counts nanoseconds; /proc/PID/stat has steps of ten milliseconds.
      const threads = await readdir(`/proc/${child.pid}/task`);
      const texts = await Promise.all(
        threads.map((id) => readFile(`/proc/${child.pid}/task/${id}/schedstat`, "utf8")),
      );
      return texts.reduce((sum, text) => sum + Number.parseInt(text, 10) / NS_IN_MS, 0);
    },
    async residentMb() {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      const megabytes = (name: string): number =>
        Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * KIB_IN_MB);
      return { rssMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
    },
    async [Symbol.asyncDispose]() {
      if (!hasEnded()) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    },
  };
}
