import { layersOf } from "./encodings.ts";
import { createSearch, type Found } from "./secret-search.ts";

/** Removes every secret from a text that is about to leave the process. */
export type Redact = (text: string) => string;

/** Replaces a secret. */
export const SECRET_MARK = "[secret]";

/**
 * Creates a function that replaces `secrets` in a text: also in another case, with a plus for each space, or encoded at most
 * twice for a URL, HTML or JSON. If a secret was cut, the part before the `CUT_MARK` is replaced. Overlapping secrets get one
 * mark. The function takes linear time for any number of secrets, because a hostile server may choose the text.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const spellings = secrets.flatMap(spellingsOf);
  const search = createSearch(spellings);
  return (text) => {
    if (spellings.length === 0) {
      return text;
    }
    const found = layersOf(text).flatMap((layer) => search(layer));
    return found.length === 0 ? text : withMarks(text, found);
  };
}

/** Replaces everything that looks like a key, for texts with secrets that are not known yet. */
export function maskKeys(text: string): string {
  return text.replace(/[A-Za-z0-9_-]{12,}/g, (word) => (looksLikeKey(word) ? SECRET_MARK : word));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A number (of up to 64 bits), a few digits and letters of one case, or words in capitals, lower case or camelCase, perhaps with a short number at the end. */
const NAME =
  /^(?:\d{1,20}|[0-9a-z]{0,7}|[0-9A-Z]{0,7}|(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{1,24})*)\d{0,4})$/;
const MIN_KEY_LENGTH = 12;

/**
 * Whether a word is long, and a part of it is not a name. `lockup-v2-arbitrum` has only names. A name that is taken for a key
 * only makes a text harder to read.
 */
export function looksLikeKey(word: string): boolean {
  return (
    word.length >= MIN_KEY_LENGTH &&
    (UUID.test(word) || !word.split(/[^A-Za-z0-9]+/).every((part) => NAME.test(part)))
  );
}

/** The secret as it is, and trimmed: messages that quote a line of a file trim it. */
function spellingsOf(secret: string): readonly string[] {
  return [secret, secret.trim()];
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
