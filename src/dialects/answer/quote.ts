/** In UTF-16 code units: 200 characters have no more. */
const MAX_CHARACTERS_READ = 400;
const WHOLE = /^.{0,200}$/u;
const BEGINNING = /^.{0,199}/u;

/**
 * A provider's words, fit for a log line: one line without control characters, of at most 200 characters.
 * It does not remove secrets; the caller does.
 */
export function quote(text: string): string {
  // A body may have a megabyte: only what can be shown is looked at.
  const start = text.slice(0, MAX_CHARACTERS_READ);
  // With a space that is replaced, the line is always a new string: a part of a body would keep all of it in memory.
  const line = `${start} `.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim();
  return start.length === text.length && WHOLE.test(line) ? line : `${BEGINNING.exec(line)?.[0] ?? ""}…`;
}

/** Names a value that was found in place of another. It never descends into it: it may be nested without end. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    return `"${quote(value)}"`;
  }
  if (Array.isArray(value)) {
    return "a list";
  }
  if (typeof value === "object" && value !== null) {
    return "an object";
  }
  return value === undefined ? "nothing" : String(value);
}
