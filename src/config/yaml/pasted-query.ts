/** Keys under which people look for a place to put a query. */
const QUERY_KEYS = new Set<unknown>(["query", "queries", "graphql", "body"]);
const QUERY = /^\s*(?:(?:query|subscription)\b[^{]*)?\{[\s\S]*\}\s*$/;

/** Why the configuration has no queries. */
export const NO_QUERY_NEEDED = "each dialect sends its own queries";

/** The error for a GraphQL query where none belongs; null for anything else. */
export function pastedQuery(key: string | number | undefined, value: unknown): string | null {
  const text = typeof value === "object" && value !== null && "_meta" in value ? "{ _meta: … }" : value;
  const isQuery = typeof text === "string" && QUERY.test(text) && /\s|_meta/.test(text);
  if (!isQuery && !QUERY_KEYS.has(key)) {
    return null;
  }
  const hasColon = isQuery && /\b_meta\s*:\s*(?:\{|…)/.test(text);
  const hint = hasColon ? "; also, { _meta: { … } } is not valid GraphQL: it takes no colon there" : "";
  return `Cannot use a GraphQL query here: ${NO_QUERY_NEEDED}${hint}`;
}
