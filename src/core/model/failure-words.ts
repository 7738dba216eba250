import type { FailureReason } from "./observation.ts";

/** Reasons whose detail is what the provider said, unless it names an HTTP status. */
const SAID_BY_PROVIDER: ReadonlySet<FailureReason> = new Set([
  "rate_limited",
  "unauthorized",
  "payment_required",
  "not_found",
  "no_indexers",
  "indexing_error",
  "graphql",
]);

/** The provider's words in quotation marks, or our own. */
export function failureWords(reason: FailureReason, detail: string): string {
  const isSaid = SAID_BY_PROVIDER.has(reason) && detail !== "" && !detail.startsWith("HTTP ");
  return isSaid ? `"${detail}"` : detail || reason.replaceAll("_", " ");
}
