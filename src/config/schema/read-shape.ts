import type { z } from "zod";
import type { Path } from "../yaml/config-error.ts";
import { didYouMean } from "../yaml/did-you-mean.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";
import type { ProblemList } from "../yaml/problem-list.ts";
import { ConfigFile } from "./config-file.ts";
import { originalPath, type Pruned, prune, valueAt } from "./prune.ts";

/** The parts of a file that have the right shape. */
export interface Shaped {
  readonly entry: ConfigFile;
  /** Where a path into `entry` leads in the file. */
  readonly inFile: (path: Path) => Path;
}

/** Without these there is no file at all; with them, whatever else is wrong can still be told. */
const STAND_INS = { version: 1, chains: {}, protocols: {} };

/** Each round takes away at least one level of what is wrong; the shape is not this deep. */
const MAX_ROUNDS = 10;

/** Checks the shape of a file, tells all that is wrong with it, and goes on with what is right. */
export function readShape(raw: unknown, problems: ProblemList): Shaped | null {
  const first = ConfigFile.safeParse(raw);
  if (first.success) {
    return { entry: first.data, inFile: (path) => path };
  }
  const issues = first.error.issues.flatMap(leafIssues);
  for (const issue of [...issues, ...issuesBelowNames(issues, raw)]) {
    tellIssue(issue, raw, problems);
  }
  return isObject(raw) ? shapeOfRest({ value: raw, goneItems: [] }, issues) : null;
}

function tellIssue({ path, message, isKey }: LeafIssue, raw: unknown, problems: ProblemList): void {
  const text = pastedQuery(path.at(-1), valueAt(raw, path)) ?? message;
  if (isKey) {
    problems.tellKey(path, text);
  } else {
    problems.tell(path, text);
  }
}

/** What else is wrong below a name that is wrong: whoever mends the name must not learn of it only then. */
function issuesBelowNames(issues: readonly LeafIssue[], raw: unknown): readonly LeafIssue[] {
  const name = "name";
  return issues
    .filter(({ isKey, path }) => isKey && path.length === 2)
    .flatMap(({ path: [section = "", wrong = ""] }) => {
      const probe = { ...STAND_INS, [section]: { [name]: valueAt(raw, [section, wrong]) } };
      return (ConfigFile.safeParse(probe).error?.issues ?? [])
        .flatMap(leafIssues)
        .filter(({ path, isKey }) => path[1] === name && !(isKey && path.length === 2))
        .map((issue) => ({ ...issue, path: [section, wrong, ...issue.path.slice(2)] }));
    });
}

/** One mistake of shape. */
export interface LeafIssue {
  readonly path: Path;
  readonly message: string;
  /** Whether the key is wrong, not the value. */
  readonly isKey: boolean;
}

type Issue = z.core.$ZodIssue;

/** What parts are wrong, each with its own path. */
export function leafIssues(issue: Issue): readonly LeafIssue[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(" ");
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, known), isKey: true }));
  }
  if (issue.code === "invalid_key") {
    return [{ path, message: issue.issues[0]?.message ?? issue.message, isKey: true }];
  }
  const inner = issue.code === "invalid_union" ? leavesOfUnion(issue) : [];
  return inner.length > 0 ? inner : [{ path, message: issue.message, isKey: false }];
}

/** What is wrong with the alternative that was meant; nothing where it was none. */
function leavesOfUnion({ path, errors }: z.core.$ZodIssueInvalidUnion): readonly LeafIssue[] {
  const meant = errors.find((branch) => !branch.some(isOtherType)) ?? [];
  return meant.flatMap((part) => leafIssues({ ...part, path: [...path, ...part.path] }));
}

function isOtherType(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code === "invalid_type";
}

function unknownKey(key: string, known: readonly string[]): string {
  return `Cannot use unknown key "${key}"${didYouMean(key, known) || `: expected ${known.join(", ")}`}`;
}

/** Takes away what is wrong until the rest has the right shape. */
function shapeOfRest(start: Pruned, issues: readonly LeafIssue[]): Shaped | null {
  let pruned = start;
  let wrong = issues;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    pruned = prune(
      pruned,
      wrong.map(({ path }) => path),
    );
    const value = isObject(pruned.value) ? { ...STAND_INS, ...pruned.value } : STAND_INS;
    pruned = { ...pruned, value };
    const next = ConfigFile.safeParse(value);
    if (next.success) {
      const { goneItems } = pruned;
      return { entry: next.data, inFile: (path) => originalPath(path, goneItems) };
    }
    wrong = next.error.issues.flatMap(leafIssues);
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
