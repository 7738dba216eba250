import { nearMiss } from "../../core/text/near-miss.ts";

/** What zod hands to an error function, as far as it is used here. */
interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

type ErrorFunction = (issue: RawIssue) => string;

/** The error of a schema that got another value; `wanted` follows "expected". */
export function expects(wanted: string): { error: ErrorFunction } {
  return { error: ({ input }) => cannotUse(input, wanted) };
}

/** The same for values that may hold a key: the message names the kind of the value and never repeats it. */
export function expectsSecret(wanted: string): { error: ErrorFunction } {
  return {
    error: ({ code, input }) => {
      const found = code === "invalid_type" ? describeKind(input) : "this value";
      return input === undefined ? cannotUse(input, wanted) : `Cannot use ${found}: expected ${wanted}`;
    },
  };
}

/** "Cannot use X: expected Y". */
export function cannotUse(input: unknown, wanted: string): string {
  return input === undefined
    ? `Cannot find required key: expected ${wanted}`
    : `Cannot use ${describeValue(input)}: expected ${wanted}`;
}

const MAX_SHOWN = 80;

/** A value as error messages show it: scalars as they are, maps and lists by their kind. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  return typeof value === "number" || typeof value === "boolean" ? String(value) : describeKind(value);
}

/** The kind of a value, without anything of its content. */
export function describeKind(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return value === null || value === "" ? "an empty value" : `a ${typeof value}`;
  }
  const kind = Array.isArray(value) ? "list" : "map";
  return Object.keys(value).length === 0 ? `an empty ${kind}` : `a ${kind}`;
}

export function unknownKey(key: string, known: readonly string[]): string {
  return `Cannot use unknown key "${key}"${didYouMean(key, known) || `: expected ${known.join(", ")}`}`;
}

/** Bounds the search: with as many mistakes as known words its cost would grow with their square. */
const MAX_CANDIDATES = 250;

/** `: did you mean "base"?`, or an empty string if no known word is similar. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const similar = nearMiss(typed, known.slice(0, MAX_CANDIDATES));
  return similar === null ? "" : `: did you mean "${similar}"?`;
}
