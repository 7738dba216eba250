import { looksLikeKey, maskKeys, type Redact, SECRET_MARK } from "../core/model/redact.ts";
import type { Path, YamlFile, YamlProblem } from "./yaml.ts";

/** What is wrong with the configuration, as it is printed: a line for each mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The most problems in one error: they must fit a terminal and a log. */
const MAX_PRINTED = 100;

/** Collects the mistakes in one file: the first at each path, because the next ones follow from it. */
export class Problems {
  readonly #yaml: YamlFile;
  readonly #found = new Map<string, YamlProblem>();
  /** Names that must be unique, and where they are written. */
  readonly #claims = new Map<string, Path>();
  /** The whole file. */
  readonly top = new Spot(this, []);

  /** Those of its syntax are mistakes already. */
  constructor(yaml: YamlFile) {
    this.#yaml = yaml;
    for (const [index, problem] of yaml.problems.entries()) {
      this.#found.set(`${index}`, problem);
    }
  }

  add(path: Path, message: string, what: "key" | "value"): void {
    const key = JSON.stringify(path);
    if (!this.#found.has(key)) {
      this.#found.set(key, { path, message, position: this.#yaml.positionOf(path, what) });
    }
  }

  /** Adds a problem if the name was claimed before. */
  claim(path: Path, name: string): boolean {
    const former = this.#claims.get(name);
    if (former !== undefined) {
      const { file, line, column } = this.#yaml.positionOf(former, "value");
      this.add(path, `${name} is listed twice, first at ${file}:${line}:${column}`, "value");
      return false;
    }
    this.#claims.set(name, path);
    return true;
  }

  /** @throws {ConfigError} If there are problems: the first 100 in the order of the file, without secrets. */
  throwIfAny(redact: Redact = (text) => text): void {
    if (this.#found.size === 0) {
      return;
    }
    const sorted = [...this.#found.values()].sort(
      ({ position: a }, { position: b }) =>
        a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column,
    );
    const lines = sorted.slice(0, MAX_PRINTED).map((problem) => formatProblem(problem, redact));
    const more = sorted.length - lines.length;
    const rest = more > 0 ? [`… and ${more.toLocaleString("en-US")} more`] : [];
    throw new ConfigError([...lines, ...rest].join("\n"));
  }
}

/** Collects the problems of something that is read, such as a value of a file. */
export interface Flaws {
  /** Those of a part of it. */
  at(...steps: Path): Flaws;
  /** Adds one, of the value or of its key. */
  add(message: string, what?: "key" | "value"): void;
}

/** A value of a file. */
export class Spot implements Flaws {
  readonly #problems: Problems;
  readonly path: Path;

  constructor(problems: Problems, path: Path) {
    this.#problems = problems;
    this.path = path;
  }

  at(...steps: Path): Spot {
    return new Spot(this.#problems, [...this.path, ...steps]);
  }

  add(message: string, what: "key" | "value" = "value"): void {
    this.#problems.add(this.path, message, what);
  }

  /** Whether it is the first value with this name; a second one is a problem. */
  claim(name: string): boolean {
    return this.#problems.claim(this.path, name);
  }
}

/** `FILE:LINE:COL: path: message`, on one line whatever the file contains. */
function formatProblem({ path, position, message }: YamlProblem, redact: Redact): string {
  const { file, line, column } = position;
  const text = `${file}:${line}:${column}: ${formatPath(path)}: ${maskKeys(redact(message))}`;
  // Control and formatting characters would move a terminal's cursor, or hide what follows.
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** `protocols.airdrops[1].chains.base.id`; `(file)` for the whole file. It ends at `headers`: to YAML, `{ Bearer KEY }` is a name. */
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
