/** Keys and indices from the top of the file down to a value. */
export type Path = readonly (string | number)[];

/** One mistake in a configuration file. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly path: Path;
  /** Never holds a secret. */
  readonly message: string;
}

/** The user's mistakes in one configuration file: all of them, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(file: string, what: { readonly problems: readonly Problem[]; readonly cause?: unknown }) {
    const sorted = [...what.problems].sort((a, b) => a.line - b.line || a.column - b.column);
    super(sorted.map((problem) => formatProblem(file, problem)).join("\n"), what);
    this.problems = sorted;
  }
}

/** A path as people write it: `protocols.airdrops[1].chains.base.id`; `(file)` for the whole file. */
function formatPath(path: Path): string {
  return path.length === 0 ? "(file)" : path.map(formatStep).join("").replace(/^\./, "");
}

function formatProblem(file: string, { line, column, path, message }: Problem): string {
  return `${file}:${line}:${column}: ${formatPath(path)}: ${message}`;
}

function formatStep(step: string | number): string {
  if (typeof step === "number") {
    return `[${step}]`;
  }
  return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
