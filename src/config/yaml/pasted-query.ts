/** Unknown keys under which people try to configure a query. */
const QUERY_KEYS: ReadonlySet<unknown> = new Set(["query", "queries", "graphql", "body"]);
const QUERY = /^\s*(?:(?:query|subscription)\b[^{]*)?\{[\s\S]*\}\s*$/;

/** Why queries are not configured. */
export const NO_QUERY_NEEDED = "each dialect but custom sends its own queries";

/** The error for a GraphQL query where none belongs, or for an unknown key that asks for one; null for anything else. */
export function pastedQuery(value: unknown, unknownKey?: string | number): string | null {
  const text = typeof value === "object" && value !== null && "_meta" in value ? "{ _meta: … }" : value;
  const isQuery = typeof text === "string" && QUERY.test(text) && /\s|_meta/.test(text);
  if (!isQuery && !QUERY_KEYS.has(unknownKey)) {
    return null;
  }
  const hasColon = isQuery && /\b_meta\s*:\s*(?:\{|…)/.test(text);
  const hint = hasColon ? "; also, { _meta: { … } } is not valid GraphQL: it takes no colon there" : "";
  return `Cannot use a GraphQL query here: ${NO_QUERY_NEEDED}${hint}`;
}
