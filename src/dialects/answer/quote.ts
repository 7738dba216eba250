const MAX_QUOTED_CHARACTERS = 200;
/** What needs no change, as nearly all that indexers answer: so much at every poll is worth a short way. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/**
 * A provider's words, fit for a log line: one line without control characters, of at most 200 characters.
 * Secrets are not its business, the caller removes them.
 */
export function quote(text: string): string {
  // A body may have a megabyte: no more of it is looked at than what can be shown.
  const head = text.slice(0, 2 * MAX_QUOTED_CHARACTERS);
  if (head.length === text.length && PLAIN.test(text)) {
    return text.length <= MAX_QUOTED_CHARACTERS ? text : `${text.slice(0, MAX_QUOTED_CHARACTERS - 1)}…`;
  }
  const line = head.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim();
  const characters = Array.from(line);
  if (head.length === text.length && characters.length <= MAX_QUOTED_CHARACTERS) {
    return line;
  }
  return `${characters.slice(0, MAX_QUOTED_CHARACTERS - 1).join("")}…`;
}

/** Names a value that was found where another was wanted. Never walks into it: it may be nested without end. */
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
