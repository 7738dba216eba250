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
const LONG_HEX = /^[0-9a-f]{32,}$/i;
const NAME_AND_NUMBER = /^(?:[A-Za-z]+\d{1,4}|\d{1,4}[A-Za-z]+)$/;
const MIN_KEY_LENGTH = 12;
const MIN_PART_LENGTH = 8;
const LONG_PART_LENGTH = 16;

/**
 * Whether a word is long and mixes letters with digits as keys do: a UUID, hexadecimal, base58 or base64. Words joined
 * by dashes with a number or a version among them, such as `lockup-v2-arbitrum`, are names.
 */
export function looksLikeKey(word: string): boolean {
  if (UUID.test(word) || LONG_HEX.test(word)) {
    return true;
  }
  return word.length >= MIN_KEY_LENGTH && word.split(/[^A-Za-z0-9]+/).some(isMixed);
}

function isMixed(part: string): boolean {
  return (
    part.length >= MIN_PART_LENGTH &&
    /[A-Za-z]/.test(part) &&
    /\d/.test(part) &&
    (part.length >= LONG_PART_LENGTH || !NAME_AND_NUMBER.test(part))
  );
}

function jsonForm(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}
