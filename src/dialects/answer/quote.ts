import { CUT_MARK, oneLine } from "../../core/model/text.ts";

/** In UTF-16 code units: 200 characters have no more. */
const MAX_CHARACTERS_READ = 400;
const WHOLE = /^.{0,200}$/u;
const BEGINNING = /^.{0,199}/u;

/**
 * A provider's words, fit for a log line: one line without control characters, of at most 200 characters. Secrets are
 * left in it: `createRedact` finds them, also where they were cut.
 */
export function quote(text: string): string {
  // A body may have a megabyte: only what can be shown is looked at.
  const start = text.slice(0, MAX_CHARACTERS_READ);
  const isCut = start.length < text.length;
  const line = oneLine(unescaped(isCut ? start.replace(/\\(?:u[0-9a-f]{0,3})?$/i, "") : start));
  return !isCut && WHOLE.test(line) ? line : `${BEGINNING.exec(line)?.[0] ?? ""}${CUT_MARK}`;
}

/** JSON with only the escapes it needs: a secret that is echoed with others would not be recognised. */
function unescaped(json: string): string {
  return json.replace(/\\(?:\\|\/|u00([2-7][0-9a-f]))/gi, (escaped, hex: string | undefined) => {
    const character = hex === undefined ? escaped.slice(1) : String.fromCharCode(Number.parseInt(hex, 16));
    return character === "\\" || character === '"' ? escaped : character;
  });
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
