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
  readonly #wrong = new Map<string, Path>();

  /** `alreadyTold`: where the file is wrong already. */
  constructor(alreadyTold: readonly Path[]) {
    for (const path of alreadyTold) {
      this.#wrong.set(JSON.stringify(path), path);
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
    return [...this.#wrong.values()].some((wrong) =>
      wrong.slice(0, path.length).every((step, index) => step === path[index]),
    );
  }

  get all(): readonly PathProblem[] {
    return this.#problems;
  }

  #add(problem: PathProblem): void {
    const place = JSON.stringify(problem.path);
    if (!this.#wrong.has(place)) {
      this.#wrong.set(place, problem.path);
      this.#problems.push(problem);
    }
  }
}
