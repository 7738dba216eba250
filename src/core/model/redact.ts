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
 * secret that was cut, it replaces the beginning before the `CUT_MARK`. Its time hardly depends on the number of secrets.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = [...new Set(secrets.flatMap(formsOf))].sort();
  const formsByStart = groupBy(forms, (form) => form.slice(0, MIN_SECRET_LENGTH));
  const longest = forms.reduce((most, { length }) => Math.max(most, length), 0);
  // Most characters do not begin a secret: the first two show that without a lookup in the map.
  const mayStart = new Uint8Array(0x1_00_00);
  for (const start of formsByStart.keys()) {
    mayStart[pairAt(start, 0)] = 1;
  }
  const lengthAt = (text: string, at: number): number =>
    mayStart[pairAt(text, at)] === 1
      ? secretLength(
          text.slice(at, at + longest + 1),
          formsByStart.get(text.slice(at, at + MIN_SECRET_LENGTH)) ?? [],
        )
      : 0;
  return (text) => replaceSecrets(text, lengthAt);
}

/** Replaces everything that looks like a key, for texts with secrets that are not known yet. */
export function maskKeys(text: string): string {
  return text.replace(/[A-Za-z0-9_-]{12,}/g, (word) => (looksLikeKey(word) ? SECRET_MARK : word));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A number, a few digits and letters of one case, or words in capitals, lower case or camelCase with a short number behind. */
const NAME =
  /^(?:\d{1,15}|[0-9a-z]{0,7}|[0-9A-Z]{0,7}|(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{1,24})*)\d{0,4})$/;
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

/** Secrets that overlap get one mark: a rest of the second would be part of a secret. */
function replaceSecrets(text: string, lengthAt: (text: string, at: number) => number): string {
  let redacted = "";
  let doneTo = 0;
  for (let at = 0; at <= text.length - MIN_SECRET_LENGTH; at += 1) {
    const length = lengthAt(text, at);
    if (length > 0) {
      redacted += at < doneTo ? "" : `${text.slice(doneTo, at)}${SECRET_MARK}`;
      doneTo = Math.max(doneTo, at + length);
    }
  }
  return redacted + text.slice(doneTo);
}

function formsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), oneLine(secret)];
}

/** The low bytes of two characters. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}

/** The length of the longest of the sorted `forms` that a text begins with, or of the part of one before a cut; 0 if none. */
function secretLength(text: string, forms: readonly string[]): number {
  const cutAt = text.indexOf(CUT_MARK);
  const beginning = text.slice(0, cutAt);
  if (cutAt > 0 && forms[countBelow(forms, beginning)]?.startsWith(beginning) === true) {
    return cutAt;
  }
  let rest = text;
  for (;;) {
    // All forms between `rest` and a form that it begins with begin with that form.
    const form = forms[countBelow(forms, `${rest}\0`) - 1] ?? "";
    if (rest.startsWith(form)) {
      return form.length;
    }
    rest = rest.slice(0, commonLength(form, rest));
  }
}

/** How many of the sorted texts come before `text`. */
function countBelow(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = (sorted[middle] ?? "") < text ? [middle + 1, high] : [low, middle];
  }
  return low;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) {
    length += 1;
  }
  return length;
}
