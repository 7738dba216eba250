import type { FailureReason } from "../../core/model/observation.ts";

/** What a complaint means: a failure, or one of the two that are none. */
export type Meaning = FailureReason | "refused" | "not_started";

/** A text that speaks of a rate limit, whatever else it is. */
export const RATE_LIMIT_WORDS = /rate.?limit|too many|limit exceeded|quota/i;

/**
 * The first that matches wins. Texts: The Graph's gateway (src/errors.rs, src/auth.rs), graph-node
 * (graph/src/data/query/error.rs), Hasura (by code: its wording changes between releases), graphql-js, JSON-RPC.
 */
const MEANINGS: readonly (readonly [RegExp, Meaning])[] = [
  // The gateway quotes what each indexer said. `indexing_error` is never attested, so it arrives in here.
  [/bad indexers:.*indexing_error/s, "indexing_error"],
  [/bad indexers:|no indexers found/, "no_indexers"],
  // The gateway writes "auth error: payment required …", so payment goes first.
  [/payment required|spend limit exceeded/i, "payment_required"],
  [/\bauth error:|\bunauthori[sz]ed\b|invalid api key|\(access-denied\)/i, "unauthorized"],
  [/has not started syncing yet/, "not_started"],
  [/subgraph not found|deployment .{1,200} does not exist|invalid subgraph id|^not found$/i, "not_found"],
  [/validation[-_]failed|has no field|cannot query field|not found in type|\(-32601\)/i, "refused"],
  [RATE_LIMIT_WORDS, "rate_limited"],
  [/service is overloaded|\(-32005\)|\(429\)/, "rate_limited"],
  [/indexing_error/, "indexing_error"],
];

/** The meaning of the first complaint that has a known one, the weightier meaning first; null where none has. */
export function readComplaints(
  complaints: readonly string[],
): { readonly meaning: Meaning; readonly text: string } | null {
  if (complaints.length === 0) {
    return null;
  }
  for (const [pattern, meaning] of MEANINGS) {
    const text = complaints.find((complaint) => pattern.test(complaint));
    if (text !== undefined) {
      return { meaning, text };
    }
  }
  return null;
}
