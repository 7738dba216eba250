/** Removes every secret from a text that is about to leave the process. */
export type Redact = (text: string) => string;

/** Replaces a secret. */
export const SECRET_MARK = "[secret]";

/**
 * Creates the function that replaces `secrets`, longest first, so that one inside another leaves no remainder. It
 * replaces their forms in JSON and in a URL too.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = new Set(secrets.flatMap((secret) => [secret, jsonForm(secret), encodeURIComponent(secret)]));
  const longestFirst = [...forms].filter((form) => form !== "").sort((a, b) => b.length - a.length);
  return (text) => {
    let redacted = text;
    for (const secret of longestFirst) {
      // Few texts contain a secret, and searching is cheaper than replacing.
      redacted = redacted.includes(secret) ? redacted.replaceAll(secret, SECRET_MARK) : redacted;
    }
    return redacted;
  };
}

/** Replaces whatever looks like a key, for texts whose secrets are not known yet. */
export function maskKeys(text: string): string {
  return text.replace(/[A-Za-z0-9_-]{12,}/g, (word) => (looksLikeKey(word) ? SECRET_MARK : word));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A number, a few digits and letters of one case, or words in capitals, lower case or camelCase with a short number behind. */
const NAME =
  /^(?:\d{1,15}|[0-9a-z]{0,7}|[0-9A-Z]{0,7}|(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,24}(?:[A-Z][a-z]{2,24})*)\d{0,4})$/;
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

function jsonForm(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}
