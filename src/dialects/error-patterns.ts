import type { FailureReason } from "../core/model/observation.ts";
import { shorten } from "../core/model/text.ts";

/** The meaning of an error message: a failure, or one of two meanings that are not failures. */
type Meaning = FailureReason | "refused" | "not_started";

const LIMIT =
  "(?:api|requests?|daily|hourly|monthly|usage|plan)(?: (?:requests?|quer(?:y|ies)|calls?|usage|capacity))? (?:quota|limit)";

/**
 * How providers word a rate limit. "limit exceeded" and "too many" alone are not enough: databases and proxies also say that
 * of connections, files, redirects, disk space and query depth.
 */
const RATE_LIMIT = new RegExp(
  String.raw`\brate[ -]?limit|\btoo many (?:requests|queries|calls)\b|\b${LIMIT}(?: (?:is|was|has been))? (?:exceeded|reached)|\bexceeded (?:your |the |its )?${LIMIT}\b`,
  "i",
);

/** How providers say that a plan is used up. Only a payment ends this state; a slower pace does not. */
const USED_UP =
  /^(?!.*(?:\brate\b|per (?:second|minute|hour|day))).*(?:\b(?:monthly|plan|billing)(?: \w+){0,2} (?:quota|limit|capacity)(?: (?:is|was|has been))? (?:exceeded|reached|exhausted)|\bexceeded (?:your |the |its )?(?:current |monthly |plan |billing )+(?:\w+ )?(?:quota|limit|capacity)\b|\b(?:out of|no more|insufficient) credits\b|\bcredits? (?:exhausted|used up)\b)/is;

/**
 * The first match wins. Texts: The Graph's gateway (src/errors.rs, src/auth.rs), graph-node
 * (graph/src/data/query/error.rs), Hasura (by code: its wording changes between releases), graphql-js, JSON-RPC.
 */
const MEANINGS: readonly (readonly [RegExp, Meaning])[] = [
  // The gateway quotes the error of each indexer, so an `indexing_error` arrives inside this message. The pattern is anchored with
  // a lookahead: otherwise, each "bad indexers:" in a message would start a search to its end.
  [/^(?=.*bad indexers:).*indexing_error/s, "indexing_error"],
  [/bad indexers:|no indexers found/, "no_indexers"],
  // The gateway writes "auth error: payment required …", so payment comes first.
  [/payment required|spend limit exceeded/i, "payment_required"],
  [USED_UP, "payment_required"],
  [/\bauth error:|\bunauthori[sz]ed\b|invalid api key|\(access-denied\)/i, "unauthorized"],
  [/has not started syncing yet/, "not_started"],
  [
    /subgraph not found|deployment .{1,200} does not exist|invalid subgraph (?:id|name)|^not found$/i,
    "not_found",
  ],
  [/validation[-_]failed|has no field|cannot query field|not found in type|\(-32601\)/i, "refused"],
  // The reply of a JSON-RPC node to a GraphQL query. Providers use these codes for other errors too, so the words must match.
  [/^(?:invalid request \(-32600\)|parse error \(-32700\))$/i, "refused"],
  [RATE_LIMIT, "rate_limited"],
  [/service is overloaded|\(-32005\)|\(429\)/, "rate_limited"],
  [/indexing_error/, "indexing_error"],
];

/** Only this much of a body is searched: it may have a megabyte, and providers name the error at the beginning. */
const MAX_BODY_CHARACTERS = 10_000;

/** Whether the beginning of a body mentions a rate limit. */
export function isRateLimitText(body: string): boolean {
  return RATE_LIMIT.test(shorten(body, MAX_BODY_CHARACTERS));
}

/** The title of a proxy's page; null if the body has none. */
export function titleOf(body: string): string | null {
  return /<title[^<>]{0,200}>([^<]+)/i.exec(shorten(body, MAX_BODY_CHARACTERS))?.[1] ?? null;
}

/** The vendors of firewalls, by the text that their pages contain. */
const FIREWALLS: readonly (readonly [RegExp, string])[] = [
  [/cloudflare|\bcf-(?:chl|error|ray)|<title>just a moment/i, "Cloudflare"],
  [/akamai|edgesuite\.net/i, "Akamai"],
  [/cloudfront/i, "CloudFront"],
  [/incapsula|imperva/i, "Imperva"],
  [/sucuri/i, "Sucuri"],
];

/**
 * The vendor of the firewall that sent a page, such as a challenge for browsers; null if the page names no vendor.
 */
export function firewallOf(body: string): string | null {
  const page = /^\s*</.test(body) ? shorten(body, MAX_BODY_CHARACTERS) : "";
  return FIREWALLS.find(([pattern]) => pattern.test(page))?.[1] ?? null;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** How long a text asks to wait, as in `Wait for 2290s` or `try again in 5 minutes`; null if it does not ask. */
export function readWaitMs(text: string): number | null {
  const found =
    /\b(?:wait|retry|try again)(?: (?:for|after|in|at least)){0,2}:? (\d{1,7})\s?(s|m|h)(?:(?:ec(?:ond)?|in(?:ute)?|our)s?)?\b/i.exec(
      shorten(text, MAX_BODY_CHARACTERS),
    );
  const [, count, unit = ""] = found ?? [];
  return count === undefined ? null : Number(count) * (UNITS_MS[unit.toLowerCase()] ?? 0);
}

/** The meaning of the first pattern that matches a message, with that message; null if no pattern matches. */
export function findKnownError(
  messages: readonly string[],
): { readonly meaning: Meaning; readonly text: string } | null {
  for (const [pattern, meaning] of messages.length === 0 ? [] : MEANINGS) {
    const text = messages.find((message) => pattern.test(message));
    if (text !== undefined) {
      return { meaning, text };
    }
  }
  return null;
}
