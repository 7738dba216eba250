import { looksLikeKey, maskKeys, type Redact, SECRET_MARK } from "../core/model/redact.ts";

/** The mistakes in a configuration. The message has a line for each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** An error prints at most this number of problems: it must fit a terminal and a log. */
const MAX_PRINTED = 100;

/** Keys and indices from the top of the file down to a value. */
export type Path = readonly (string | number)[];

/** A place in a file; line and column count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The position of a value or its key in a file; if the value is absent, the position of its nearest ancestor. */
export type PositionOf = (path: Path, what: "key" | "value") => Position;

interface Problem {
  /** Empty for the whole file. */
  readonly path: Path;
  readonly position: Position;
  readonly message: string;
}

/**
 * Collects the mistakes in the files of a configuration. At each path only the first mistake counts, because the next ones
 * follow from it. Mistakes of a whole file, such as in its syntax, all count.
 */
export class Problems {
  readonly #found: Problem[] = [];
  readonly #paths = new Set<string>();
  /** Names that must be unique, and where they are written. */
  readonly #claims = new Map<string, Spot>();

  add(problem: Problem): void {
    const { path, position } = problem;
    const key = JSON.stringify([position.file, ...path]);
    if (path.length === 0 || !this.#paths.has(key)) {
      this.#paths.add(key);
      this.#found.push(problem);
    }
  }

  /** Whether there is a problem at this path or below. */
  isAnyIn(path: Path): boolean {
    return this.#found.some((one) => path.every((step, index) => one.path[index] === step));
  }

  /** Takes a name that must be unique. False: it is taken already, and a problem was added. */
  claim(spot: Spot, name: string): boolean {
    const former = this.#claims.get(name);
    if (former === undefined) {
      this.#claims.set(name, spot);
    } else {
      spot.add(`${name} is listed twice, first at ${former.where}`, "key");
    }
    return former === undefined;
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** An error with the first 100 problems, in the order of the file and without secrets. */
  toError(redact: Redact = (text) => text): ConfigError {
    const sorted = this.#found.toSorted(
      ({ position: a }, { position: b }) =>
        a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column,
    );
    const lines = sorted.slice(0, MAX_PRINTED).map((problem) => formatProblem(problem, redact));
    const more = sorted.length - lines.length;
    const rest = more > 0 ? [`… and ${more.toLocaleString("en-US")} more`] : [];
    return new ConfigError([...lines, ...rest].join("\n"));
  }
}

/** Collects the problems of one value, in a file or in an option. */
export interface Flaws {
  /** The collector for a part of the value. */
  at(...steps: Path): Flaws;
  /** Adds a problem of the value or of its key. */
  add(message: string, what?: "key" | "value"): void;
}

/** The place of a value in a file. */
export class Spot implements Flaws {
  readonly path: Path;
  readonly #problems: Problems;
  readonly #positionOf: PositionOf;

  constructor(problems: Problems, positionOf: PositionOf, path: Path) {
    this.#problems = problems;
    this.#positionOf = positionOf;
    this.path = path;
  }

  at(...steps: Path): Spot {
    return new Spot(this.#problems, this.#positionOf, [...this.path, ...steps]);
  }

  add(message: string, what: "key" | "value" = "value"): void {
    this.#problems.add({ path: this.path, position: this.#positionOf(this.path, what), message });
  }

  /** Takes a name that must be unique. False: it is taken already, and a problem was added. */
  claim(name: string): boolean {
    return this.#problems.claim(this, name);
  }

  /** Whether the value or a part of it has a problem. */
  get isBroken(): boolean {
    return this.#problems.isAnyIn(this.path);
  }

  /** `FILE:LINE:COL` */
  get where(): string {
    const { file, line, column } = this.#positionOf(this.path, "key");
    return `${file}:${line}:${column}`;
  }
}

/** `FILE:LINE:COL: path: message`. It stays on one line, whatever the file contains. */
function formatProblem({ path, position, message }: Problem, redact: Redact): string {
  const { file, line, column } = position;
  const text = `${file}:${line}:${column}: ${formatPath(path)}: ${maskKeys(redact(message))}`;
  // Control and formatting characters would move a terminal's cursor, or hide what follows.
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * `protocols.airdrops[1].chains.base.id`; `(file)` for the whole file. A path ends at `headers`: if a user writes
 * `{ Bearer KEY }`, YAML takes the secret as the name of a header.
 */
function formatPath(path: Path): string {
  const end = path.indexOf("headers") + 1;
  const steps = path.slice(0, end || path.length).map((step) => {
    if (typeof step === "number") {
      return `[${step}]`;
    }
    const name = /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    return looksLikeKey(step) ? SECRET_MARK : name;
  });
  return steps.join("").replace(/^\./, "") || "(file)";
}
