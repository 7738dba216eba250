import { unusable } from "../schema/messages.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";

/** A URL that can be used, or the sentence that says why not. */
export type WebUrl =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "unusable"; readonly message: string };

/** Reads an http or https URL. Its message repeats only what is `written` in the file, and no key that stands there. */
export function readWebUrl(text: string, written: string): WebUrl {
  const query = pastedQuery("url", text);
  if (query !== null) {
    return { kind: "unusable", message: query };
  }
  const url = URL.canParse(text) && /^https?:\/\//i.test(text) && !/\s/.test(text) ? new URL(text) : null;
  return url === null
    ? {
        kind: "unusable",
        message: unusable(withoutKeys(written), "a URL that starts with http:// or https://"),
      }
    : { kind: "url", url };
}

/** The keys that a URL may carry: user and password, the values of its query, path segments of 32 hex characters. */
export function keysOf(url: URL): readonly string[] {
  const { username, password, pathname, search } = url;
  const rawQuery = search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  const segments = pathname.split("/").filter((segment) => /^[0-9a-f]{32}$/i.test(segment));
  const raw = [username, password, ...rawQuery, ...segments].filter((key) => key !== "");
  return [...new Set([...raw, ...raw.map(decoded)])];
}

/** The `Authorization` that a URL's user and password stand for (RFC 7617): HTTP clients drop them. Null where it has none. */
export function basicAuthorization({ username, password }: URL): string | null {
  const pair = `${decoded(username)}:${decoded(password)}`;
  return pair === ":" ? null : `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** A text that should have been a URL, with all that may be a key blotted out. */
function withoutKeys(text: string): string {
  return text
    .replace(/\/\/[^/@]*@/g, "//***@")
    .replace(/([?&][^=&#]*=)[^&#]*/g, "$1***")
    .replace(/[0-9a-f]{32,}/gi, "***");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) {
      return text;
    }
    throw error;
  }
}
