/**
 * How long a `Retry-After` header asks to wait, from `nowMs`: seconds or an HTTP date (RFC 9110, section 10.2.3).
 * Null where there is none, or nothing that can be understood.
 */
export function readRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) {
    return null;
  }
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1000;
  }
  // Date.parse takes much else for a date, "1.5" among it.
  if (!/^[A-Z][a-z]+, .*\d\d:\d\d:\d\d GMT$/.test(text)) {
    return null;
  }
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
