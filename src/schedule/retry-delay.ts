/** The longest delay before a failed poll is retried: short compared with the poll intervals, so that faults show soon. */
export const LONGEST_RETRY_DELAY_MS = 200;

/** The delay with jitter: at least half of the longest. `random` is from 0 to 1. */
export function retryDelayMs(random: number): number {
  return (LONGEST_RETRY_DELAY_MS * (1 + random)) / 2;
}
