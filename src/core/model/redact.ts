import { groupBy } from "./group-by.ts";
import { CUT_MARK, oneLine } from "./text.ts";

/** Removes every secret from a text that is about to leave the process. */
export type Redact = (text: string) => string;

/** Replaces a secret. */
export const SECRET_MARK = "[secret]";

/** Redacting shorter values would make every message unreadable and protect nothing. */
export const MIN_SECRET_LENGTH = 4;

/**
 * Creates the function that replaces `secrets`, and the forms that they have in JSON, in a URL and in a quoted line. Of a
 * secret that was cut, it replaces the beginning before the `CUT_MARK`. Secrets that overlap get one mark.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const formsByStart = groupBy(forms, (form) => form.slice(0, MIN_SECRET_LENGTH));
  return (text) => {
    const found: Found[] = [];
    for (const [start, alike] of formsByStart) {
      for (let from = text.indexOf(start); from >= 0; from = text.indexOf(start, from + 1)) {
        found.push({ from, to: from + Math.max(...alike.map((form) => foundLength(text, from, form))) });
      }
    }
    return found.length === 0 ? text : withMarks(text, found);
  };
}

/** Replaces everything that looks like a key, for texts with secrets that are not known yet. */
export function maskKeys(text: string): string {
  return text.replace(/[A-Za-z0-9_-]{12,}/g, (word) => (looksLikeKey(word) ? SECRET_MARK : word));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A number (of up to 64 bits), a few digits and letters of one case, or words in capitals, lower case or camelCase with a short number behind. */
const NAME =
  /^(?:\d{1,20}|[0-9a-z]{0,7}|[0-9A-Z]{0,7}|(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{1,24})*)\d{0,4})$/;
const MIN_KEY_LENGTH = 12;

/**
 * Whether a word is too long and too random for a name: `lockup-v2-arbitrum` is made of names, nearly no key is. A name
 * that is taken for a key only makes a text harder to read.
 */
export function looksLikeKey(word: string): boolean {
  return (
    word.length >= MIN_KEY_LENGTH &&
    (UUID.test(word) || !word.split(/[^A-Za-z0-9]+/).every((part) => NAME.test(part)))
  );
}

/** Where a secret is in a text. */
interface Found {
  readonly from: number;
  readonly to: number;
}

function formsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), oneLine(secret)];
}

/** How much of the form is in the text there: all of it, or its beginning up to a cut; 0 if neither. */
function foundLength(text: string, from: number, form: string): number {
  if (text.startsWith(form, from)) {
    return form.length;
  }
  const cutAt = text.indexOf(CUT_MARK, from);
  return cutAt >= from + MIN_SECRET_LENGTH && form.startsWith(text.slice(from, cutAt)) ? cutAt - from : 0;
}

function withMarks(text: string, found: readonly Found[]): string {
  let redacted = "";
  let doneTo = 0;
  for (const { from, to } of found.filter((one) => one.to > one.from).sort((a, b) => a.from - b.from)) {
    redacted += from < doneTo ? "" : `${text.slice(doneTo, from)}${SECRET_MARK}`;
    doneTo = Math.max(doneTo, to);
  }
  return redacted + text.slice(doneTo);
}
