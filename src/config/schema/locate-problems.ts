import { looksLikeKey, maskKeys, type Redact, SECRET_MARK } from "../../core/model/redact.ts";
import type { Path, Problem } from "../yaml/config-error.ts";
import type { PathProblem } from "../yaml/problem-list.ts";
import type { YamlFile } from "../yaml/read-yaml.ts";
import { valueAt } from "./prune.ts";

/** Enough to work on at once, and few enough for a terminal and a log. */
const MAX_LOCATED = 100;

/**
 * The first problems of a file with their positions, in its order and without secrets, and how many more there are:
 * those of the YAML and those of its content. The values of `words`, names of keys, come from a closed list: they are
 * shown also where they look like a key.
 */
export function locateProblems(
  yaml: YamlFile,
  found: readonly PathProblem[],
  redact: Redact,
  words: readonly string[] = [],
): { readonly problems: readonly Problem[]; readonly more: number } {
  const located = found.map(({ path, at, message }) => ({
    ...(at === "key" ? yaml.keyPositionOf(path) : yaml.positionOf(path)),
    path,
    message,
  }));
  const all = [...yaml.problems, ...located].sort((a, b) => a.line - b.line || a.column - b.column);
  const problems = all.slice(0, MAX_LOCATED).map(({ message, ...problem }) => {
    const text = redact(typeof message === "string" ? message : message());
    const isWord = words.includes(String(problem.path.at(-1)));
    return {
      ...problem,
      path: withoutKeys(problem.path, yaml.value),
      message: isWord ? text : maskKeys(text),
    };
  });
  return { problems, more: all.length - problems.length };
}

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

/** A path without steps that may be keys: `{ Bearer KEY }` under `headers` has the key as a name without a value. */
function withoutKeys(path: Path, file: unknown): Path {
  return path.map((step, index) => {
    if (typeof step === "number") {
      return step;
    }
    const isHeader = path[index - 1] === "headers";
    const hasValue = typeof (valueAt(file, path.slice(0, index + 1)) ?? null) !== "object";
    const isSecret = looksLikeKey(step) || (isHeader && !(HEADER_NAME.test(step) && hasValue));
    return isSecret ? SECRET_MARK : step;
  });
}
