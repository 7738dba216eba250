/** What a command sees of the process; `main.ts` alone reads the real one. */
export interface CommandWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the package, with its chains.yaml and package.json; ends in a separator. */
  readonly packageRoot: string;
  readonly nodeVersion: string;
  /** @throws {Error} If the file cannot be read. */
  readonly readFile: (path: string) => string;
  /** A line of result, to stdout. */
  readonly out: (line: string) => void;
  /** A line for people, to stderr. */
  readonly err: (line: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** How many columns stdout's terminal has; undefined where it is none. */
  readonly outColumns?: number | undefined;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly onSignal: (signal: "SIGTERM" | "SIGINT" | "SIGHUP", listener: () => void) => void;
  /** These texts must not leave the process, not even in a crash. */
  readonly keepSecret: (secrets: readonly string[]) => void;
  /** A bug of ours: says so and ends the process. */
  readonly crash: (error: unknown) => never;
}

/** Exit codes of all commands but `check`, which has those of monitoring plugins. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;
