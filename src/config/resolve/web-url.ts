import { pastedQuery } from "../yaml/pasted-query.ts";
import { decodePercent } from "./secret-parts.ts";

/** A usable URL, or why it is none. */
export type WebUrl =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "invalid"; readonly message: string };

/** Parses an http or https URL. The message describes what was found without repeating it: it may hold a key. */
export function readWebUrl(text: string): WebUrl {
  const query = pastedQuery(text);
  if (query !== null) {
    return { kind: "invalid", message: query };
  }
  const flaw = flawOf(text);
  if (flaw !== null) {
    return { kind: "invalid", message: `Cannot use this URL: expected http:// or https://, found ${flaw}` };
  }
  return { kind: "url", url: new URL(text) };
}

/** The `Authorization` header for a URL's user and password (RFC 7617), which HTTP clients drop; null if it has none. */
export function basicAuthorization({ username, password }: URL): string | null {
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return pair === ":" ? null : `Basic ${Buffer.from(pair).toString("base64")}`;
}

const OTHER_SCHEME = /^(?:wss?|ftps?|file|grpc|tcp|ssh|redis|ipfs|socks\w*):/i;

function flawOf(text: string): string | null {
  if (text === "") {
    return "an empty string";
  }
  if (/\s/.test(text)) {
    return text.trim() === text ? "a space in it" : "a space before or after it";
  }
  if (!/^https?:\/\//i.test(text)) {
    return OTHER_SCHEME.exec(text)?.[0] ?? "no scheme";
  }
  if (!URL.canParse(text)) {
    return "an invalid host, port or password; write / ? # and @ in a password as %2F %3F %23 and %40";
  }
  const { username, pathname } = new URL(text);
  return username !== "" && pathname.includes("@")
    ? "an @ in the path; write / and @ in a password as %2F and %40"
    : null;
}
