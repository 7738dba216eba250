import { looksLikeKey, maskKeys, type Redact, SECRET_MARK } from "../core/model/redact.ts";
import type { Path, Position, YamlFile } from "./yaml.ts";

/** What is wrong. A function where a near miss is searched: only the problems that are printed need their message. */
export type Message = string | (() => string);

/** What is wrong with the configuration, as it is printed: a line for each mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

interface Problem {
  readonly path: Path;
  readonly position: Position;
  readonly message: Message;
}

/** The most problems in one error: they must fit a terminal and a log. */
const MAX_PRINTED = 100;
const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

/** Collects the mistakes in one file: the first at each path, because the next ones follow from it. */
export class Problems {
  readonly #file: string;
  readonly #yaml: YamlFile;
  readonly #found = new Map<string, Problem>();
  /** The whole file. */
  readonly top: Spot;

  /** Those of its syntax are mistakes already. */
  constructor(file: string, yaml: YamlFile) {
    this.#file = file;
    this.#yaml = yaml;
    this.top = new Spot([], { file, yaml, found: this.#found });
    for (const { path = [], position, message } of yaml.problems) {
      this.#found.set(`${this.#found.size}`, { path, position, message });
    }
  }

  /** @throws {ConfigError} If there are problems: the first 100 in the order of the file, without secrets. */
  throwIfAny(redact: Redact = (text) => text): void {
    if (this.#found.size === 0) {
      return;
    }
    // The file that includes the others comes first.
    const fileOf = ({ file = this.#file }: Position) => (file === this.#file ? "" : file);
    const sorted = [...this.#found.values()].sort(
      ({ position: a }, { position: b }) =>
        fileOf(a).localeCompare(fileOf(b)) || a.line - b.line || a.column - b.column,
    );
    const lines = sorted.slice(0, MAX_PRINTED).map((problem) => this.#format(problem, redact));
    const more = sorted.length - lines.length;
    const rest = more > 0 ? [`… and ${more.toLocaleString("en-US")} more`] : [];
    throw new ConfigError([...lines, ...rest].join("\n"));
  }

  /** `FILE:LINE:COL: path: message`, on one line whatever the file contains. */
  #format({ path, position: { file = this.#file, line, column }, message }: Problem, redact: Redact): string {
    const text = maskKeys(redact(typeof message === "string" ? message : message()));
    return escapeControls(`${file}:${line}:${column}: ${this.#formatPath(path)}: ${text}`);
  }

  /** `protocols.airdrops[1].chains.base.id`; `(file)` for the whole file. */
  #formatPath(path: Path): string {
    const steps = path.map((step, index) => {
      if (typeof step === "number") {
        return `[${step}]`;
      }
      if (this.#mayBeKey(path, index)) {
        return SECRET_MARK;
      }
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    });
    return steps.join("").replace(/^\./, "") || "(file)";
  }

  /** Whether a step of a path may be a provider's key: `{ Bearer KEY }` under `headers` is a name without a value. */
  #mayBeKey(path: Path, index: number): boolean {
    const step = String(path[index]);
    if (path[index - 1] !== "headers") {
      return looksLikeKey(step);
    }
    const value = path
      .slice(0, index + 1)
      .reduce<unknown>((inner, key) => Object(inner)[key], this.#yaml.value);
    return looksLikeKey(step) || !HEADER_NAME.test(step) || typeof (value ?? null) === "object";
  }
}

/** Collects the problems of something that is read, such as a value of a file. */
export interface Flaws {
  /** Those of a part of it. */
  at(...steps: Path): Flaws;
  /** Adds one, of the value or of its key. */
  add(message: Message, what?: "key" | "value"): void;
}

/** A value of a file. */
export class Spot implements Flaws {
  readonly path: Path;
  readonly #file: string;
  readonly #yaml: YamlFile;
  readonly #found: Map<string, Problem>;

  constructor(
    path: Path,
    { file, yaml, found }: { file: string; yaml: YamlFile; found: Map<string, Problem> },
  ) {
    this.path = path;
    this.#file = file;
    this.#yaml = yaml;
    this.#found = found;
  }

  at(...steps: Path): Spot {
    return new Spot([...this.path, ...steps], { file: this.#file, yaml: this.#yaml, found: this.#found });
  }

  add(message: Message, what: "key" | "value" = "value"): void {
    if (!this.hasProblem) {
      const position = this.#yaml.positionOf(this.path, what);
      this.#found.set(JSON.stringify(this.path), { path: this.path, position, message });
    }
  }

  /** `FILE:LINE:COL` */
  get where(): string {
    const { file = this.#file, line, column } = this.#yaml.positionOf(this.path, "value");
    return `${file}:${line}:${column}`;
  }

  /** Its key, or its index in a list. */
  get name(): string {
    return String(this.path.at(-1));
  }

  /** Whether there is a problem with exactly this value. */
  get hasProblem(): boolean {
    return this.#found.has(JSON.stringify(this.path));
  }

  /** A scalar as the user wrote it; null for anything else. */
  get source(): string | null {
    return this.#yaml.sourceOf(this.path);
  }
}

/** Control and formatting characters would move a terminal's cursor, or hide what follows. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
