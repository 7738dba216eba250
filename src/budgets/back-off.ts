/** How long a provider that refused us is left alone. Plain data, so that it can be saved. */
export interface BackOff {
  /** When it last refused us, unix milliseconds. */
  readonly refusedAtMs: number;
  /** Unix milliseconds; nothing is sent before. */
  readonly untilMs: number;
  /** The last delay that we chose ourselves; doubles while refusals follow each other. */
  readonly delayMs: number;
}

/** What a refusal said. */
export interface Refusal {
  readonly nowMs: number;
  /** When the provider will listen again, unix milliseconds; null where it did not say. */
  readonly untilMs: number | null;
  /** From 0 to 1: the jitter. */
  readonly random: number;
  /** No refusal silences us for longer, whatever the provider names. */
  readonly longestMs: number;
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;

/** Nothing was refused yet. */
export const NO_BACK_OFF: BackOff = { refusedAtMs: 0, untilMs: 0, delayMs: 0 };

/**
 * Folds a refusal in: until the time that the provider names, else for 30 s, doubled up to an hour by each
 * further refusal, of which a random share up to a half is taken off.
 *
 * A refusal that arrives during the back-off answers a request of before it, so it doubles nothing. One that
 * comes later after its end than it lasted starts anew.
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

/** Shortens what a clock that was put back has made too long. */
export function clampBackOff(former: BackOff, nowMs: number, longestMs: number): BackOff {
  return former.untilMs <= nowMs + longestMs ? former : { ...former, untilMs: nowMs + longestMs };
}
