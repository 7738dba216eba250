import { z } from "zod";
import { DAY_MS, HOUR_MS } from "../core/model/durations.ts";
import type { Budget } from "../core/model/fleet.ts";
import { BackOff, isBackingOff, NO_BACK_OFF, Time } from "./back-off.ts";

/**
 * What a request is for. `scheduled`: a poll of the schedule. `opportunistic`: retries, confirmation polls, people; these get
 * only the requests that the schedule leaves.
 */
export type Use = "scheduled" | "opportunistic";

const Count = z.int().nonnegative();
/**
 * Requests within one short span of time: the end of the span, and the number for each use. A tuple, because a ledger has dozens
 * of them, and a file would repeat the names of fields.
 */
const Bucket = z.tuple([Time, Count, Count]).readonly();
type Bucket = readonly [endMs: number, scheduled: number, opportunistic: number];

/** The spent requests of one account: the part of its ledger that outlives the process. */
export const Spent = z
  .object({
    buckets: z.array(Bucket).readonly(),
    backOff: BackOff,
    /** A digest of where the account's requests go. */
    sentTo: z.string(),
  })
  .readonly();
export type Spent = z.infer<typeof Spent>;

/** The spent requests of one account, and its limits. Replaced, never edited. */
export interface Ledger extends Omit<Spent, "sentTo"> {
  /** Infinity: nothing is counted. */
  readonly limit: number;
  /** Null if nothing is counted. */
  readonly per: Budget["per"] | null;
  readonly windowMs: number;
  /** Kept free for scheduled polls in every window. */
  readonly reserve: number;
}

/** A ledger counts the longest month (`windowMs`). `pollsPerWindow` is for a mean month (`nominalMs`). */
const WINDOWS = {
  hour: { windowMs: HOUR_MS, nominalMs: HOUR_MS },
  day: { windowMs: DAY_MS, nominalMs: DAY_MS },
  month: { windowMs: 31 * DAY_MS, nominalMs: 30.4 * DAY_MS },
} as const;

const BUCKETS_PER_WINDOW = 24;

/**
 * Starts the ledger of an account from which nothing was spent.
 *
 * Only a rolling window is counted. It ends now, and is as long as the longest calendar window (60 minutes, 24 hours, 31 days).
 * So the present calendar window never contains more requests.
 *
 * `pollsPerWindow`: the requests of the schedules that share the budget, as `requestsPerWindow` counts them. `slackMs`: extends
 * the window.
 */
export function startLedger(budget: Budget, pollsPerWindow: number, slackMs = 0): Ledger {
  return {
    limit: budget.limit,
    per: budget.per,
    windowMs: WINDOWS[budget.per].windowMs + slackMs,
    reserve: Math.min(budget.limit, countedAtOnce(budget, pollsPerWindow)),
    buckets: [],
    backOff: NO_BACK_OFF,
  };
}

/** The ledger of endpoints without a budget: only the back-off after a refusal is in it. */
export const UNLIMITED: Ledger = {
  limit: Number.POSITIVE_INFINITY,
  per: null,
  windowMs: HOUR_MS,
  reserve: 0,
  buckets: [],
  backOff: NO_BACK_OFF,
};

/** The most scheduled polls that a ledger without `slackMs` counts at one instant: those of the longest window and one span. */
export function countedAtOnce({ per }: Pick<Budget, "per">, pollsPerWindow: number): number {
  const { windowMs, nominalMs } = WINDOWS[per];
  return Math.ceil((pollsPerWindow * (windowMs + bucketMs(windowMs))) / nominalMs);
}

/** How many polls the schedules make in a time of this length, on average; rounded up. */
export function pollsWithin(lengthMs: number, { per }: Pick<Budget, "per">, pollsPerWindow: number): number {
  return Math.ceil((pollsPerWindow * lengthMs) / WINDOWS[per].nominalMs);
}

/**
 * Takes one request from the ledger; null if it is refused.
 *
 * In every window scheduled polls come first: an opportunistic request must leave room for the `reserve`.
 */
export function take(ledger: Ledger, use: Use, nowMs: number): Ledger | null {
  const { limit, reserve } = ledger;
  const { scheduled, opportunistic } = counted(ledger, nowMs);
  const committed = (use === "scheduled" ? scheduled : Math.max(scheduled, reserve)) + opportunistic;
  if (isBackingOff(ledger.backOff, nowMs) || committed + 1 > limit) {
    return null;
  }
  return ledger.per === null
    ? ledger
    : withCounts(ledger, use === "scheduled" ? [1, 0] : [0, 1], nowMs, nowMs);
}

/** Requests that count against the limit at this instant: never fewer than were made in the window. */
export function usedAt(ledger: Ledger, nowMs: number): number {
  const { scheduled, opportunistic } = counted(ledger, nowMs);
  return scheduled + opportunistic;
}

/** Requests left at this instant; none during a back-off. */
export function remainingAt(ledger: Ledger, nowMs: number): number {
  return isBackingOff(ledger.backOff, nowMs) ? 0 : Math.max(0, ledger.limit - usedAt(ledger, nowMs));
}

/** The first instant at which the limit allows a request for this use if no other request is made before; null if never. */
export function freeAgainMs(ledger: Ledger, use: Use, nowMs: number): number | null {
  const current = { ...ledger, backOff: NO_BACK_OFF };
  const instants = [nowMs, ...ledger.buckets.map(([endMs]) => endMs + ledger.windowMs)];
  return instants.find((atMs) => atMs >= nowMs && take(current, use, atMs) !== null) ?? null;
}

function counted(ledger: Ledger, nowMs: number): Record<Use, number> {
  const counts = { scheduled: 0, opportunistic: 0 };
  for (const bucket of ledger.buckets) {
    if (isCounted(bucket, ledger, nowMs)) {
      counts.scheduled += bucket[1];
      counts.opportunistic += bucket[2];
    }
  }
  return counts;
}

/** A bucket counts until its whole span has left the window. After a clock was set back, a bucket of the future counts too. */
function isCounted([endMs]: Bucket, { windowMs }: Ledger, nowMs: number): boolean {
  return endMs + windowMs > nowMs;
}

/** Adds requests to the span of `atMs`, and removes buckets that no longer count. */
export function withCounts(
  ledger: Ledger,
  [scheduled, opportunistic]: readonly [scheduled: number, opportunistic: number],
  nowMs: number,
  atMs: number,
): Ledger {
  const spanMs = bucketMs(ledger.windowMs);
  const endMs = (Math.floor(atMs / spanMs) + 1) * spanMs;
  const kept = ledger.buckets.filter((bucket) => isCounted(bucket, ledger, nowMs));
  const known = kept.find((bucket) => bucket[0] === endMs) ?? [endMs, 0, 0];
  const bucket: Bucket = [endMs, known[1] + scheduled, known[2] + opportunistic];
  const others = kept.filter((one) => one[0] !== endMs);
  return { ...ledger, buckets: [...others, bucket].sort(([one], [other]) => one - other) };
}

/** The length of a span; requests within one span are counted together. */
function bucketMs(windowMs: number): number {
  return windowMs / BUCKETS_PER_WINDOW;
}
