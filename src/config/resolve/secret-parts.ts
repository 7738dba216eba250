import { looksLikeKey } from "../../core/model/redact.ts";
import { type FilledPart, joinParts } from "./template.ts";

/** Stands for a chain's value: names and numbers of chains are no keys. */
const GAP = "\u0000";
const GATEWAY_KEY = /^[0-9a-f]{32}$/i;
/** Public identifiers of The Graph's network and of IPFS, however much they look like keys. */
const PUBLIC_ID = /\/(?:subgraphs|deployments)\/id\/[^/]+/g;
/** `max-age=3600`, `?v=2`: redacting such numbers would garble block numbers. */
const SHORT_NUMBER = /^\d{1,7}$/;
const MIN_PAIR_VALUE_LENGTH = 6;
const IPFS_HASH = /^Qm[1-9A-HJ-NP-Za-km-z]{44}$/;

/**
 * The parts of a URL that may be keys: user, password, values of the query, and path segments that look like one. Each
 * as it is sent and decoded.
 */
export function secretsInUrl(parts: readonly FilledPart[]): readonly string[] {
  const { username, password, pathname } = new URL(joinParts(parts));
  const written = parts.map(({ text, source }) => (source === "value" ? GAP : text)).join("");
  const [path = "", query = ""] = written.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/);
  const found = [
    username,
    password,
    ...queryValues(query),
    ...keysInPath(path),
    ...pathname.split("/").filter((segment) => GATEWAY_KEY.test(segment)),
  ].filter((text) => text !== "");
  return [...new Set([...found, ...found.map(decodePercent)])];
}

/** The parts of a header's value that may be keys, and the whole: `Bearer KEY`, `session=KEY; a=b`, `token="KEY"`. */
export function secretsInHeader(value: string): readonly string[] {
  const withoutScheme = value.replace(/^\S+ +(?=\S+$)/, "");
  const words = value.split(/[\s;,]+/).map(unquoted);
  const values = words.map((word) => unquoted(/^[^="]*=(?!=*$)(.+)$/.exec(word)?.[1] ?? ""));
  const longValues = values.filter(
    (text) => text.length >= MIN_PAIR_VALUE_LENGTH && !SHORT_NUMBER.test(text),
  );
  const keys = value.split(/[^A-Za-z0-9_-]+/).filter(looksLikeKey);
  const found = [value, withoutScheme, ...longValues, ...keys, ...basicPair(value)];
  return [...new Set(found)].filter((text) => text !== "");
}

/** Percent-encoded text as it reads; text that is not encoded correctly stays as it is. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) {
      return text;
    }
    throw error;
  }
}

function queryValues(query: string): readonly string[] {
  const values = query.split("&").flatMap((pair) => pair.slice(pair.indexOf("=") + 1).split(GAP));
  return values.filter((value) => !SHORT_NUMBER.test(value));
}

function keysInPath(path: string): readonly string[] {
  const segments = path.replace(PUBLIC_ID, "").split(new RegExp(`[/${GAP}]`));
  return segments
    .flatMap((segment) => [segment, ...segment.split(/[=:;,@]/)])
    .filter((segment) => looksLikeKey(segment) && !IPFS_HASH.test(segment));
}

/** User and password of `Basic …`, as one text and apart. */
function basicPair(value: string): readonly string[] {
  const encoded = /^Basic +(\S+)$/i.exec(value)?.[1];
  if (encoded === undefined) {
    return [];
  }
  const pair = Buffer.from(encoded, "base64").toString();
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

function unquoted(word: string): string {
  return word.replace(/^["']|["']$/g, "");
}
