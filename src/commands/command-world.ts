import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describeValue } from "../config/shape.ts";
import { whyUnwritable } from "../core/model/why-failed.ts";
import type { LogFormat, LogLevel } from "../io/log-options.ts";
import type { Build } from "../io/world.ts";

/** The parts of the process that commands use. Only `main.ts` touches the real process. */
export interface CommandWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory of the package, with its chains.yaml and package.json. Ends with a separator. */
  readonly packageRoot: string;
  readonly nodeVersion: string;
  /** @throws {Error} If the file cannot be read. */
  readonly readFile: (path: string) => string;
  /** The names in a folder that match, sorted. @throws {Error} If it cannot be read. */
  readonly listFiles: (folder: string, pattern: RegExp) => readonly string[];
  /** Prints a line of the result to stdout. */
  readonly out: (line: string) => void;
  /** A line for people, to stderr. */
  readonly err: (line: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** The current width of the terminal of stdout; undefined if stdout is not a terminal. */
  readonly outColumns?: number | undefined;
  /** The current height of that terminal. */
  readonly outRows?: number | undefined;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  readonly uptimeMs: () => number;
  readonly random: () => number;
  readonly onSignal: (signal: "SIGTERM" | "SIGINT" | "SIGHUP", listener: () => void) => void;
  /** Keeps these texts out of the log and of crash reports. */
  readonly keepSecret: (secrets: readonly string[]) => void;
  /** Replaces the secrets that `keepSecret` got. */
  readonly redact: (text: string) => string;
  /** Reports a bug and ends the process. */
  readonly crash: (error: unknown) => never;
}

/** The options of all commands. `cli.ts` lists the options of each command. */
export interface Flags {
  readonly chain: readonly string[];
  readonly chainId?: string;
  readonly cluster?: string;
  readonly config: string;
  readonly discover?: true;
  readonly enableLifecycle?: true;
  readonly every: string;
  readonly format: "table" | "json" | "prometheus" | "nagios";
  readonly grafana?: string;
  readonly header: readonly string[];
  readonly job?: string;
  readonly kind?: string;
  readonly limit: string;
  readonly listen?: string;
  readonly logFormat?: LogFormat;
  readonly logLevel: LogLevel;
  readonly maxLag?: string;
  readonly output: string;
  readonly record?: string;
  readonly runbooks?: string;
  readonly scenario: string;
  readonly since: string;
  readonly speed: string;
  readonly state?: string;
  readonly status?: string;
  readonly store?: string;
  readonly testnets: "page" | "ticket" | "none";
  readonly timeout: string;
  readonly url?: string;
  readonly watchConfig?: true;
  readonly webConfig?: string;
}

/** Exit codes of all commands except `check`, which has the exit codes of monitoring plugins. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Ends a command. The message is printed as it is. `check` always exits with 3 instead of `exitCode`. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? EXIT.usage;
  }
}

/** The error for an invalid value of an option. `option`: as the user types it. */
export function cannotUse(option: string, value: string, expected: string): CommandError {
  return new CommandError(`Cannot use ${option} ${describeValue(value)}: expected ${expected}`);
}

/** The version in package.json, and the revision that an image sets in SYNCLAG_REVISION. */
export function buildOf(world: CommandWorld): Build {
  // npm refuses a package.json without a version.
  const { version } = JSON.parse(world.readFile(`${world.packageRoot}package.json`)) as { version: string };
  return { version, revision: world.env["SYNCLAG_REVISION"] ?? "unknown", nodeVersion: world.nodeVersion };
}

/** Only terminals get colours, and only if `NO_COLOR` is empty or not set (https://no-color.org). */
export function colorsFor(stream: "out" | "err", world: CommandWorld): "ansi" | "none" {
  const isTerminal = stream === "out" ? world.outIsTerminal : world.errIsTerminal;
  return isTerminal && (world.env["NO_COLOR"] ?? "") === "" ? "ansi" : "none";
}

/**
 * Writes a file that a command makes, and its folder. `wx` refuses to overwrite a file.
 *
 * @throws {CommandError} If it cannot be written.
 */
export function writeOutput(path: string, text: string, flag: "w" | "wx" = "w"): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag });
  } catch (error) {
    const message = `Cannot write ${path}: ${whyUnwritable(error)}`;
    throw new CommandError(message, { exitCode: EXIT.failure, cause: error });
  }
}

/** Danger: Node's own `recursive` never returns in a folder such as /proc, which has no such file and lets nobody make it. */
function makeFolder(folder: string): void {
  if (!existsSync(folder)) {
    makeFolder(dirname(folder));
    mkdirSync(folder);
  }
}
