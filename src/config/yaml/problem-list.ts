import type { Path } from "./config-error.ts";

/** A mistake and the path that it is about. */
export interface PathProblem {
  readonly path: Path;
  /** Whether the mistake is the key itself, or the value. */
  readonly at: "key" | "value";
  readonly message: string;
}

/** Collects the mistakes of one file: the first of each place, for what follows from it is no second mistake. */
export class ProblemList {
  readonly #problems: PathProblem[] = [];
  readonly #wrong = new Set<string>();
  /** What has something wrong in it, and what is wrong itself. */
  readonly #above = new Set<string>();

  /** `alreadyTold`: where the file is wrong already. */
  constructor(alreadyTold: readonly Path[]) {
    for (const path of alreadyTold) {
      this.#mark(path);
    }
  }

  /** Tells of a value. */
  tell(path: Path, message: string): void {
    this.#add({ path, at: "value", message });
  }

  /** Tells of a key that should not be there. */
  tellKey(path: Path, message: string): void {
    this.#add({ path, at: "key", message });
  }

  /** Whether something at, above or below a path is wrong: what would follow from that is not told as well. */
  touches(path: Path): boolean {
    return this.#above.has(placeOf(path)) || prefixesOf(path).some((prefix) => this.#wrong.has(prefix));
  }

  get all(): readonly PathProblem[] {
    return this.#problems;
  }

  #add(problem: PathProblem): void {
    if (!this.#wrong.has(placeOf(problem.path))) {
      this.#mark(problem.path);
      this.#problems.push(problem);
    }
  }

  #mark(path: Path): void {
    this.#wrong.add(placeOf(path));
    for (const prefix of prefixesOf(path)) {
      this.#above.add(prefix);
    }
  }
}

/** The path itself and all that it lies in. */
function prefixesOf(path: Path): readonly string[] {
  return Array.from({ length: path.length + 1 }, (_, length) => placeOf(path.slice(0, length)));
}

function placeOf(path: Path): string {
  return JSON.stringify(path);
}
