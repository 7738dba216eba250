/** How long nothing is sent to a provider that refused a request. Plain data, so that it can be saved. */
export interface BackOff {
  /** When it last refused, unix milliseconds. */
  readonly refusedAtMs: number;
  /** Unix milliseconds; nothing is sent before. */
  readonly untilMs: number;
  /** The last delay that the provider did not name; doubles while refusals follow each other. */
  readonly delayMs: number;
}

/** What a refusal said. */
export interface Refusal {
  readonly nowMs: number;
  /** When the provider asks to be tried again, unix milliseconds; null where it did not say. */
  readonly untilMs: number | null;
  /** Jitter, from 0 to 1. */
  readonly random: number;
  /** The back-off is never longer, whatever the provider names. */
  readonly longestMs: number;
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;

/** Before the first refusal. */
export const NO_BACK_OFF: BackOff = { refusedAtMs: 0, untilMs: 0, delayMs: 0 };

/**
 * Folds in a refusal: back off until the time that the provider names, else for 30 s, doubled up to an hour by each
 * further refusal, less a random share of up to a half.
 *
 * A refusal during the back-off answers an earlier request, so it doubles nothing. One that comes later after the end
 * of the back-off than that lasted starts again at 30 s.
 */
export function backOff(former: BackOff, refusal: Refusal): BackOff {
  const { nowMs, untilMs, random, longestMs } = refusal;
  const until = (ms: number): number => Math.max(former.untilMs, Math.min(ms, nowMs + longestMs));
  if (untilMs !== null && untilMs > nowMs) {
    return { refusedAtMs: nowMs, untilMs: until(untilMs), delayMs: former.delayMs };
  }
  if (nowMs < former.untilMs) {
    return former;
  }
  const inARow = nowMs < former.untilMs + former.delayMs;
  const delayMs = inARow ? Math.min(2 * former.delayMs, LONGEST_DELAY_MS) : FIRST_DELAY_MS;
  return { refusedAtMs: nowMs, untilMs: until(nowMs + Math.ceil(delayMs * (1 - random / 2))), delayMs };
}

/** Whether nothing may be sent now. */
export function isBackingOff(former: BackOff, nowMs: number): boolean {
  return nowMs < former.untilMs;
}

/** Shortens a back-off that has become too long because the clock was put back. */
export function clampBackOff(former: BackOff, nowMs: number, longestMs: number): BackOff {
  return former.untilMs <= nowMs + longestMs ? former : { ...former, untilMs: nowMs + longestMs };
}
