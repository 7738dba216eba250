import { type Path, pathKey } from "./config-error.ts";

/** What is wrong. A function where a near miss is searched: only the problems that are printed need their message. */
export type Message = string | (() => string);

/** A mistake and the path that it is about. */
export interface PathProblem {
  readonly path: Path;
  /** Whether the key is wrong, or its value. */
  readonly at: "key" | "value";
  readonly message: Message;
}

/** Collects the mistakes of one file: the first at each path, because the next ones follow from it. */
export class ProblemList {
  readonly #problems: PathProblem[] = [];
  readonly #wrong = new Set<string>();
  /** Every path with a problem, and all of their parents. */
  readonly #withParents = new Set<string>();

  /** `known`: where the file is wrong already. */
  constructor(known: readonly Path[]) {
    for (const path of known) {
      this.#mark(path);
    }
  }

  /** Adds a problem with a value. */
  addProblem(path: Path, message: Message): void {
    this.#add({ path, at: "value", message });
  }

  /** Adds a problem with a key. */
  addKeyProblem(path: Path, message: Message): void {
    this.#add({ path, at: "key", message });
  }

  /** Whether there is a problem at, above or below a path: what follows from it is not reported as well. */
  hasProblemAt(path: Path): boolean {
    return this.#withParents.has(pathKey(path)) || selfAndParents(path).some((key) => this.#wrong.has(key));
  }

  get all(): readonly PathProblem[] {
    return this.#problems;
  }

  #add(problem: PathProblem): void {
    if (!this.#wrong.has(pathKey(problem.path))) {
      this.#mark(problem.path);
      this.#problems.push(problem);
    }
  }

  #mark(path: Path): void {
    this.#wrong.add(pathKey(path));
    for (const key of selfAndParents(path)) {
      this.#withParents.add(key);
    }
  }
}

function selfAndParents(path: Path): readonly string[] {
  return Array.from({ length: path.length + 1 }, (_, length) => pathKey(path.slice(0, length)));
}
