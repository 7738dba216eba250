import type { Path } from "../yaml/config-error.ts";
import type { ProblemList } from "../yaml/problem-list.ts";

/** Tells of each `${…}` that stands where none is filled in. */
export function checkVariables(value: unknown, problems: ProblemList): void {
  for (const path of variablePaths(value, [])) {
    if (!isFilledIn(path)) {
      problems.tell(path, `Cannot fill in \${…} here: it works in url and headers only`);
    }
  }
}

function variablePaths(value: unknown, path: Path): readonly Path[] {
  if (typeof value === "string") {
    return value.includes("${") ? [path] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => variablePaths(item, [...path, index]));
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, item]) => variablePaths(item, [...path, key]))
    : [];
}

/** `protocols.x[0].url`, `protocols.x[0].chains.base.url`, and the same with `headers.Name`. */
function isFilledIn([section, , , ...rest]: Path): boolean {
  const [key, name] = rest[0] === "chains" && rest.length > 2 ? rest.slice(2) : rest;
  return section === "protocols" && (key === "url" || (key === "headers" && name !== undefined));
}
