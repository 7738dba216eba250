import type { Path } from "../yaml/config-error.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";
import type { PathProblem, ProblemList } from "../yaml/problem-list.ts";
import { ConfigFile } from "./config-file.ts";
import { addIssues, issuesOf } from "./issues.ts";
import { isMap, originalPath, type Pruned, prune, valueAt } from "./prune.ts";

/** The valid parts of a file. */
export interface Shaped {
  readonly entry: ConfigFile;
  /** The path in the file of a path in `entry`. */
  readonly inFile: (path: Path) => Path;
}

/** Used where a required key is absent or invalid, so that the rest of the file can still be checked. */
const REQUIRED_DEFAULTS = { version: 1, chains: {}, protocols: {} };

/** Each round removes at least one level of what is wrong; the shape is not this deep. */
const MAX_ROUNDS = 10;

/** Checks the shape of a file, adds all problems with it, and returns the valid parts. Null: there are none. */
export function readShape(raw: unknown, problems: ProblemList): Shaped | null {
  const first = ConfigFile.safeParse(raw);
  if (first.success) {
    return { entry: first.data, inFile: (path) => path };
  }
  const issues = issuesOf(ConfigFile, first.error);
  const all = [...issues, ...issuesBelowNames(issues, raw)].map((issue) => ({
    ...issue,
    message: queryMessage(issue, raw) ?? issue.message,
  }));
  addIssues(all, problems);
  return isMap(raw) ? shapeOfRest({ value: raw, removedItems: [] }, issues) : null;
}

function queryMessage({ path, at }: PathProblem, raw: unknown): string | null {
  return pastedQuery(valueAt(raw, path), at === "key" ? path.at(-1) : undefined);
}

/** zod does not check what is below an invalid name: the same is checked here below a valid one. */
function issuesBelowNames(issues: readonly PathProblem[], raw: unknown): readonly PathProblem[] {
  const name = "name";
  return issues
    .filter(({ at, path }) => at === "key" && path.length === 2)
    .flatMap(({ path: [section = "", invalid = ""] }) => {
      const probe = { ...REQUIRED_DEFAULTS, [section]: { [name]: valueAt(raw, [section, invalid]) } };
      const { error } = ConfigFile.safeParse(probe);
      return (error === undefined ? [] : issuesOf(ConfigFile, error))
        .filter(({ path, at }) => path[1] === name && !(at === "key" && path.length === 2))
        .map((issue) => ({ ...issue, path: [section, invalid, ...issue.path.slice(2)] }));
    });
}

/** Removes what is wrong until the rest has the right shape. */
function shapeOfRest(start: Pruned, issues: readonly PathProblem[]): Shaped | null {
  let pruned = start;
  let wrong = issues;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    pruned = prune(
      pruned,
      wrong.map(({ path }) => path),
    );
    const value = isMap(pruned.value) ? { ...REQUIRED_DEFAULTS, ...pruned.value } : REQUIRED_DEFAULTS;
    pruned = { ...pruned, value };
    const next = ConfigFile.safeParse(value);
    if (next.success) {
      const { removedItems } = pruned;
      return { entry: next.data, inFile: (path) => originalPath(path, removedItems) };
    }
    wrong = issuesOf(ConfigFile, next.error);
  }
  return null;
}
