/** Names of the saved numbers that are instants; all other numbers in milliseconds are durations. */
const INSTANTS: ReadonlySet<string> = new Set([
  "againstMs",
  "atMs",
  "firstMs",
  "freshUntilMs",
  "lastAdvanceMs",
  "lastMs",
  "lastSuccessMs",
  "nextMs",
  "ownMs",
  "partnerMs",
  "reachedMs",
  "receivedAtMs",
  "sentAtMs",
  "sinceMs",
  "timesMs",
]);
/** Names of objects with block times, which follow the chain's clock, not ours. */
const BLOCK_TIMES = "reported";

/** Moves all instants in plain data by `byMs`, in place: our own clock was wrong by so much. */
export function shiftInstants(data: object, byMs: number): void {
  for (const [name, value] of Object.entries(data) as readonly [string, unknown][]) {
    if (typeof value === "number" && INSTANTS.has(name)) {
      Object.assign(data, { [name]: value + byMs });
    } else if (Array.isArray(value) && INSTANTS.has(name)) {
      Object.assign(data, { [name]: value.map((ms: number) => ms + byMs) });
    } else if (typeof value === "object" && value !== null && name !== BLOCK_TIMES) {
      shiftInstants(value, byMs);
    }
  }
}
