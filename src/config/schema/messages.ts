/** What zod hands to an error function, as far as it is used here. */
interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/** What a schema says of a value that it cannot use; `wanted` reads on from "expected". */
export function expects(wanted: string): { error: (issue: RawIssue) => string } {
  return { error: ({ input }) => unusable(input, wanted) };
}

/** The same for a place where a secret may stand: the value is not repeated. */
export function expectsSecret(wanted: string): { error: (issue: RawIssue) => string } {
  return {
    error: ({ input }) =>
      input === undefined ? unusable(input, wanted) : `Cannot use this value: expected ${wanted}`,
  };
}

/** A value as an error message names it. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  if (typeof value !== "object" || value === null) {
    return value === null ? "an empty value" : String(value);
  }
  const kind = Array.isArray(value) ? "list" : "map";
  return Object.keys(value).length === 0 ? `an empty ${kind}` : `a ${kind}`;
}

const MAX_SHOWN = 80;

/** "Cannot … this: expected that". */
export function unusable(input: unknown, wanted: string): string {
  return input === undefined
    ? `Cannot find this key: expected ${wanted}`
    : `Cannot use ${show(input)}: expected ${wanted}`;
}
