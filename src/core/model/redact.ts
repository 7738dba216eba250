/** Removes every secret from a text that is about to leave the process. */
export type Redact = (text: string) => string;

/** What stands in a secret's place. */
const MARK = "[secret]";

/**
 * Makes the function that removes `secrets`, longest first, so that one inside another leaves no rest. Forms that
 * a secret takes in JSON and in a URL go as well.
 */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = new Set(secrets.flatMap((secret) => [secret, jsonForm(secret), encodeURIComponent(secret)]));
  const longestFirst = [...forms].filter((form) => form !== "").sort((a, b) => b.length - a.length);
  return (text) => {
    let rest = text;
    for (const secret of longestFirst) {
      // Nearly no text has one, and looking is cheaper than replacing.
      rest = rest.includes(secret) ? rest.replaceAll(secret, MARK) : rest;
    }
    return rest;
  };
}

function jsonForm(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}
