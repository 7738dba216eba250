import { z } from "zod";
import { LATEST_MS } from "../core/model/observation.ts";

/** Unix milliseconds. */
export const Time = z.number().nonnegative().max(LATEST_MS);

/** The pause after a provider refused a request. Plain data, so that it can be saved. */
export const BackOff = z
  .object({
    refusedAtMs: Time,
    untilMs: Time,
    /** The last delay that we chose ourselves. It doubles while refusals follow each other. */
    delayMs: Time,
    /** The words of the provider, without secrets. */
    words: z.string().default(""),
  })
  .readonly();
export type BackOff = z.infer<typeof BackOff>;

export interface Refusal {
  readonly nowMs: number;
  /** When the provider allows the next request, Unix milliseconds; null if it did not say. */
  readonly untilMs: number | null;
  /** The words of the provider, without secrets. */
  readonly words?: string;
  /** Jitter, from 0 to 1. */
  readonly random: number;
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
/** No pause is shortened to less than this. */
const LEAST_DELAY_MS = 60_000;

export const NO_BACK_OFF: BackOff = { refusedAtMs: 0, untilMs: 0, delayMs: 0, words: "" };

/**
 * The pause after one more refusal. It lasts until the time that the provider names. Without a named time it lasts 30 s,
 * doubled by each further refusal up to an hour, less a random share of up to a half.
 *
 * A named time counts for an hour at most, since one mistaken header must not silence a budget for weeks.
 *
 * A refusal during the back-off answers an earlier request, so it doubles nothing. Once `delayMs` has passed since the end of
 * the last back-off, the delay starts again at 30 s.
 */
export function backOff(former: BackOff, refusal: Refusal): BackOff {
  const { nowMs, untilMs: namedMs, random, words = "" } = refusal;
  if (namedMs !== null && namedMs > nowMs) {
    const untilMs = Math.max(former.untilMs, Math.min(namedMs, nowMs + LONGEST_DELAY_MS));
    return { refusedAtMs: nowMs, untilMs, delayMs: former.delayMs, words };
  }
  if (isBackingOff(former, nowMs)) {
    return former;
  }
  const inARow = nowMs < former.untilMs + former.delayMs;
  const delayMs = inARow ? Math.min(2 * former.delayMs, LONGEST_DELAY_MS) : FIRST_DELAY_MS;
  return { refusedAtMs: nowMs, untilMs: nowMs + Math.ceil(delayMs * (1 - random / 2)), delayMs, words };
}

export function isBackingOff({ untilMs }: BackOff, nowMs: number): boolean {
  return nowMs < untilMs;
}

/**
 * The pause after a start or a reload, since a person may have removed the cause: it ends a minute after the refusal, or now if
 * that is later. A pause that ends before then stays as it is.
 */
export function shortened(former: BackOff, nowMs: number): BackOff {
  const earliestMs = Math.max(nowMs, former.refusedAtMs + LEAST_DELAY_MS);
  return { ...former, untilMs: Math.min(former.untilMs, earliestMs) };
}
