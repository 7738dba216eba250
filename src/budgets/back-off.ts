import { z } from "zod";
import type { Budget } from "../core/model/fleet.ts";
import { LATEST_MS } from "../core/model/observation.ts";

/** Unix milliseconds. */
export const Time = z.number().nonnegative().max(LATEST_MS);

/** How long nothing is sent to a provider that refused a request. Plain data, so that it can be saved. */
export const BackOff = z
  .object({
    refusedAtMs: Time,
    untilMs: Time,
    /** The last delay that the provider did not name; doubles while refusals follow each other. */
    delayMs: Time,
    /** The first request after a back-off goes alone: `due` before it is sent, `sent` until it is answered. */
    probe: z.enum(["none", "due", "sent"]),
  })
  .readonly();
export type BackOff = z.infer<typeof BackOff>;

export interface Refusal {
  readonly nowMs: number;
  /** When the provider asks to be tried again, unix milliseconds; null where it did not say. */
  readonly untilMs: number | null;
  /** Jitter, from 0 to 1. */
  readonly random: number;
}

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
/** A provider's clock and ours agree to this much. */
const CLOCK_DIFFERENCE_MS = 300_000;
/** A probe that was not answered by then is sent again; longer than a poll takes. */
const PROBE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const NO_BACK_OFF: BackOff = { refusedAtMs: 0, untilMs: 0, delayMs: 0, probe: "none" };

/**
 * Folds in a refusal: back off until the time that the provider names, else for 30 s, doubled up to an hour by each
 * further refusal, less a random share of up to a half.
 *
 * A named time counts for an hour at most, since one mistaken header must not silence a budget for weeks. Only the end
 * of the budget's own UTC hour, day or month (`per`) is believed as it is: then the limit is used up.
 *
 * A refusal during the back-off answers an earlier request, so it doubles nothing. One that comes later after the end
 * of the back-off than that lasted starts again at 30 s.
 */
export function backOff(former: BackOff, refusal: Refusal, per: Budget["per"] | null): BackOff {
  const { nowMs, untilMs: namedMs, random } = refusal;
  const refused = { refusedAtMs: nowMs, probe: "due" as const };
  const waitsMs = former.probe === "sent" ? 0 : former.untilMs;
  if (namedMs !== null && namedMs > nowMs) {
    const longestMs = isWindowEnd(namedMs, per, nowMs) ? namedMs : nowMs + LONGEST_DELAY_MS;
    const untilMs = Math.max(waitsMs, Math.min(namedMs, longestMs));
    return { ...refused, untilMs, delayMs: former.delayMs };
  }
  if (nowMs < waitsMs) {
    return former;
  }
  const inARow = nowMs < former.untilMs + former.delayMs;
  const delayMs = inARow ? Math.min(2 * former.delayMs, LONGEST_DELAY_MS) : FIRST_DELAY_MS;
  return { ...refused, untilMs: nowMs + Math.ceil(delayMs * (1 - random / 2)), delayMs };
}

export function isBackingOff({ untilMs }: BackOff, nowMs: number): boolean {
  return nowMs < untilMs;
}

/** A request is sent after the end of the back-off: all others wait for its answer. */
export function startProbe(former: BackOff, nowMs: number): BackOff {
  return former.probe === "none" ? former : { ...former, untilMs: nowMs + PROBE_MS, probe: "sent" };
}

/** The provider answered the probe without a refusal. */
export function endProbe(former: BackOff, nowMs: number): BackOff {
  return former.probe === "sent" ? { ...former, untilMs: nowMs, probe: "none" } : former;
}

/** After a start or a reload one probe may go at once, for a person may have mended the cause; a minute after a refusal. */
export function allowProbe(former: BackOff, nowMs: number): BackOff {
  const earliestMs = Math.max(nowMs, former.refusedAtMs + PROBE_MS);
  return former.probe === "due" ? { ...former, untilMs: Math.min(former.untilMs, earliestMs) } : former;
}

/** Whether this is the end of the current hour, day or month in UTC, give or take what two clocks differ by. */
function isWindowEnd(timeMs: number, per: Budget["per"] | null, nowMs: number): boolean {
  return per !== null && Math.abs(timeMs - windowEndMs(per, nowMs)) <= CLOCK_DIFFERENCE_MS;
}

function windowEndMs(per: Budget["per"], nowMs: number): number {
  if (per === "month") {
    const now = new Date(nowMs);
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  }
  const spanMs = per === "hour" ? HOUR_MS : DAY_MS;
  return (Math.floor(nowMs / spanMs) + 1) * spanMs;
}
