import type { Path } from "./config-error.ts";

/** A mistake and the path that it is about. */
export interface PathProblem {
  readonly path: Path;
  /** Whether the mistake is the key itself, or the value. */
  readonly at: "key" | "value";
  readonly message: string;
}

/** Collects the mistakes of one file. What is told twice of one place is kept once. */
export class ProblemList {
  readonly #problems: PathProblem[] = [];
  readonly #seen = new Set<string>();

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
    return this.#problems.some((problem) =>
      problem.path.slice(0, path.length).every((step, index) => step === path[index]),
    );
  }

  get all(): readonly PathProblem[] {
    return this.#problems;
  }

  #add(problem: PathProblem): void {
    const identity = JSON.stringify([problem.path, problem.message]);
    if (!this.#seen.has(identity)) {
      this.#seen.add(identity);
      this.#problems.push(problem);
    }
  }
}
