import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, vi } from "vitest";
import { getText } from "./loopback.ts";
import { undoLater } from "./undo.ts";

/** The program to start, and its options. */
export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its standard input, which is then closed. */
  readonly input?: string;
}

/** A program under test, with everything that it has printed so far. */
export interface Program {
  readonly pid: number;
  /** The exit code or the signal; the other one is null. */
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  stdout(): string;
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and forces it after ten seconds. The end of the test file does this to every program that still runs. */
  stop(): Program["exit"];
}

/** The Debian package that brings a program, for the message to a developer whose machine lacks it. */
const DEBIAN_PACKAGES: Readonly<Record<string, string>> = {
  prometheus: "prometheus",
  promtool: "prometheus",
  "prometheus-alertmanager": "prometheus-alertmanager",
  amtool: "prometheus-alertmanager",
  chromium: "chromium",
  buildah: "buildah",
  psql: "postgresql",
  "redis-server": "redis-server",
  "systemd-analyze": "systemd",
};

const STOP_GRACE_MS = 10_000;
const START_LIMIT_MS = 60_000;

const running = new Set<Program>();

/** Starts a program. Throws, naming the Debian package that brings it, when it is not installed. */
export async function startProgram({ command, args, cwd, env, input }: ProgramOptions): Promise<Program> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kept = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      kept[stream] += text;
    });
  }
  const exit = new Promise<Awaited<Program["exit"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  await once(child, "spawn").catch((cause: unknown) => {
    const debianPackage = DEBIAN_PACKAGES[command];
    const hint = debianPackage === undefined ? "" : ` (Debian package ${debianPackage})`;
    throw new Error(`Cannot start ${command}: it is not on the PATH${hint}`, { cause });
  });
  child.stdin.on("error", () => undefined); // It may end before it has read everything.
  child.stdin.end(input);

  const program: Program = {
    pid: child.pid ?? 0,
    exit,
    stdout: () => kept.stdout,
    stderr: () => kept.stderr,
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      const forced = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
      const how = await exit;
      clearTimeout(forced);
      return how;
    },
  };
  running.add(program);
  void exit.then(() => running.delete(program));
  undoLater(() => program.stop());
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

/** Runs a program that must succeed, and returns what it printed. */
export async function succeed(options: ProgramOptions): Promise<string> {
  const { code, stdout, stderr } = await runProgram(options);
  if (code !== 0) {
    throw new Error(`Cannot run ${options.command}: exit code ${code}, ${(stdout + stderr).slice(-2_000)}`);
  }
  return stdout.trim();
}

/** A program that serves HTTP. */
export interface Server extends Program {
  /** Without a slash at the end. */
  readonly url: string;
}

/** Starts a program that prints the address that the system gave it, and waits until it replies at a path. */
export async function startServer(options: ProgramOptions, address: RegExp, path: string): Promise<Server> {
  const program = await startProgram(options);
  const url = (await printed(program, address)).replace(/^(?!http)/, "http://");
  await vi.waitFor(() => getText(`${url}${path}`), { timeout: START_LIMIT_MS, interval: 100 });
  return { ...program, url };
}

/** The first group of the pattern, once a program prints it. Throws what it printed if it ends without a match. */
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

process.on("exit", () => {
  for (const program of running) {
    program.signal("SIGKILL");
  }
});
