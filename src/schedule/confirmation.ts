/** Between two polls of the schedule: enough for three polls in a row that agree, which settles any doubt. */
const MOST_LOOKS = 2;
const LONGEST_DELAY_MS = 60_000;

/**
 * How soon an endpoint in doubt is asked again, in milliseconds, if its budget has something to spare: a quarter of its
 * interval, and at most a minute. Null where it was looked at often enough since its schedule's last poll.
 */
export function confirmationDelayMs(pollIntervalMs: number, looks: number): number | null {
  return looks < MOST_LOOKS ? Math.min(pollIntervalMs / 4, LONGEST_DELAY_MS) : null;
}
