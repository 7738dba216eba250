/**
 * A height or a chain's id as a JSON number or a decimal string, or null for whatever can't be one: zero, negative,
 * fractional, beyond 2^53 - 1. Hasura as Envio starts it sends big numbers as strings.
 */
export function readPositiveInteger(value: unknown): number | null {
  const number = typeof value === "string" && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : null;
}
