import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { expect, vi } from "vitest";

/** What is started, and how. */
export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its standard input, which is then closed. */
  readonly input?: string;
}

/** How a program ended: exactly one of the two is not null. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program under test, with everything that it has printed so far. */
export interface Program {
  readonly pid: number;
  readonly exit: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and forces it after ten seconds. */
  stop(): Promise<Exit>;
}

/** The Debian package that brings a program, for the message to a developer whose machine lacks it. */
const DEBIAN_PACKAGES: Readonly<Record<string, string>> = {
  prometheus: "prometheus",
  promtool: "prometheus",
  "prometheus-alertmanager": "prometheus-alertmanager",
  amtool: "prometheus-alertmanager",
  chromium: "chromium",
  buildah: "buildah",
  debootstrap: "debootstrap",
  psql: "postgresql",
  "redis-server": "redis-server",
  "systemd-analyze": "systemd",
};

const STOP_GRACE_MS = 10_000;
const START_LIMIT_MS = 60_000;

const running = new Set<Program>();

/** Starts a program. Throws, naming the Debian package that brings it, when it is not installed. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output = keepOutput(child);
  const exit = exitOf(child);
  await spawned(child, options.command);
  child.stdin.on("error", () => undefined); // It may end before it has read everything.
  child.stdin.end(options.input);

  const program: Program = {
    pid: child.pid ?? 0,
    exit,
    ...output,
    signal: (signal) => void child.kill(signal),
    stop: () => stop(child, exit),
  };
  running.add(program);
  void exit.then(() => running.delete(program));
  return program;
}

/** Runs a program to its end. */
export async function runProgram(
  options: ProgramOptions,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const program = await startProgram(options);
  const { code } = await program.exit;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/**
 * Waits until a program has printed something, such as the address that the system gave it, and returns the first group of the
 * pattern. Throws what it printed when it ends without that.
 */
export async function printed(program: Program, pattern: RegExp): Promise<string> {
  const found = (): string | undefined => pattern.exec(program.stdout() + program.stderr())?.[1];
  const ended = program.exit.then(({ code }) => {
    if (found() === undefined) {
      throw new Error(`Cannot start a program: it ended with ${code}, ${program.stderr().slice(-2_000)}`);
    }
  });
  await Promise.race([
    vi.waitFor(() => expect(found()).toBeDefined(), { timeout: START_LIMIT_MS, interval: 50 }),
    ended,
  ]);
  return found() ?? "";
}

/** Ends everything that this test file has started; for `afterAll`. */
export async function stopAllPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.stop()));
}

process.on("exit", () => {
  for (const program of running) {
    program.signal("SIGKILL");
  }
});

function keepOutput(child: ChildProcess): Pick<Program, "stdout" | "stderr"> {
  const kept = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    kept.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    kept.stderr += text;
  });
  return { stdout: () => kept.stdout, stderr: () => kept.stderr };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

async function spawned(child: ChildProcess, command: string): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    const debianPackage = DEBIAN_PACKAGES[command];
    const hint = debianPackage === undefined ? "" : ` (Debian package ${debianPackage})`;
    throw new Error(`Cannot start ${command}: it is not on the PATH${hint}`, { cause });
  }
}

async function stop(child: ChildProcess, exit: Promise<Exit>): Promise<Exit> {
  child.kill("SIGCONT");
  child.kill("SIGTERM");
  const grace = new AbortController();
  const forced = delay(STOP_GRACE_MS, undefined, { signal: grace.signal }).then(
    () => child.kill("SIGKILL"),
    () => undefined,
  );
  const how = await exit;
  grace.abort();
  await forced;
  return how;
}
