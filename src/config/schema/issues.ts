import { z } from "zod";
import type { Path } from "../yaml/config-error.ts";
import type { PathProblem, ProblemList } from "../yaml/problem-list.ts";
import { unknownKey } from "./messages.ts";

/** The mistakes that `schema` found, each at its own path. */
export function issuesOf(schema: z.ZodType, error: z.ZodError): readonly PathProblem[] {
  return error.issues.flatMap((issue) => flatten(issue, schema));
}

export function addIssues(issues: readonly PathProblem[], problems: ProblemList): void {
  for (const { path, at, message } of issues) {
    if (at === "key") {
      problems.addKeyProblem(path, message);
    } else {
      problems.addProblem(path, message);
    }
  }
}

function flatten(issue: z.core.$ZodIssue, schema: z.ZodType): readonly PathProblem[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: () => unknownKey(key, known),
      at: "key",
    }));
  }
  if (issue.code === "invalid_key") {
    return [{ path, message: issue.issues[0]?.message ?? issue.message, at: "key" }];
  }
  const inner = issue.code === "invalid_union" ? flattenUnion(issue, schema) : [];
  return inner.length > 0 ? inner : [{ path, message: issue.message, at: "value" }];
}

/** What is wrong with the alternative of the same type; nothing if there is none. */
function flattenUnion(
  { path, errors }: z.core.$ZodIssueInvalidUnion,
  schema: z.ZodType,
): readonly PathProblem[] {
  const branch = errors.find((issues) => !issues.some(isOtherType)) ?? [];
  return branch.flatMap((issue) => flatten({ ...issue, path: [...path, ...issue.path] }, schema));
}

function isOtherType(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && issue.code === "invalid_type";
}

/** The keys of the map at `path`. */
function knownKeys(schema: unknown, path: Path): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return knownKeys(schema.unwrap(), path);
  }
  const [step, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, unknown>> = schema.shape;
    return step === undefined ? Object.keys(shape) : knownKeys(shape[step], rest);
  }
  if (schema instanceof z.ZodRecord) {
    return knownKeys(schema.valueType, rest);
  }
  return schema instanceof z.ZodArray ? knownKeys(schema.element, rest) : [];
}
