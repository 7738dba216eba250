const MAX_QUOTED_CHARACTERS = 200;

/**
 * A provider's words, fit for a log line: one line without control characters, of at most 200 characters.
 * It does not remove secrets; the caller does.
 */
export function quote(text: string): string {
  // A body may have a megabyte: only what can be shown is looked at.
  const start = text.slice(0, 2 * MAX_QUOTED_CHARACTERS);
  const characters = Array.from(start.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim());
  return start.length === text.length && characters.length <= MAX_QUOTED_CHARACTERS
    ? characters.join("")
    : `${characters.slice(0, MAX_QUOTED_CHARACTERS - 1).join("")}…`;
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
