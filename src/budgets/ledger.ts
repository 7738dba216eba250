import { z } from "zod";
import type { Budget } from "../core/model/fleet.ts";
import {
  BackOff,
  backOff,
  clampBackOff,
  isBackingOff,
  NO_BACK_OFF,
  type Refusal,
  startProbe,
  Time,
} from "./back-off.ts";

/**
 * What a request is for. `scheduled`: a poll of the schedule. `opportunistic`: retries, confirmation polls, people; these
 * get only what the schedule leaves.
 */
export type Use = "scheduled" | "opportunistic";

const Count = z.int().nonnegative();
/** Requests made within one short span of time: its end, and how many of each use. An array, since a ledger has dozens of them. */
const Bucket = z.tuple([Time, Count, Count]).readonly();
type Bucket = readonly [endMs: number, scheduled: number, opportunistic: number];

/** What was spent of one account: the part of its ledger that outlives the process. */
export const Spent = z
  .object({
    /** Oldest first. */
    buckets: z.array(Bucket).readonly(),
    backOff: BackOff,
    /** A digest of where the account's requests go. */
    sentTo: z.string(),
  })
  .readonly();
export type Spent = z.infer<typeof Spent>;

/** What was spent of one account, and its limits. Replaced, never edited. */
export interface Ledger extends Omit<Spent, "sentTo"> {
  /** Infinity: nothing is counted. */
  readonly limit: number;
  /** Null where nothing is counted. */
  readonly per: Budget["per"] | null;
  readonly windowMs: number;
  /** Kept free for scheduled polls in every window. */
  readonly reserve: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A month's window is its longest, 31 days. `nominalMs` is the time that `pollsPerWindow` counts for: the mean month. */
const WINDOWS = {
  hour: { windowMs: HOUR_MS, nominalMs: HOUR_MS },
  day: { windowMs: DAY_MS, nominalMs: DAY_MS },
  month: { windowMs: 31 * DAY_MS, nominalMs: 30.4 * DAY_MS },
} as const;

const BUCKETS_PER_WINDOW = 24;
const MOST_BUCKETS = 100;
/** When a clock that was wrong by up to this much is corrected, no ledger forgets anything. */
const CLOCK_ERROR_MS = DAY_MS;

/**
 * Starts the ledger of an account from which nothing was spent.
 *
 * Only the rolling window is counted: it ends now and is as long as the longest calendar window (60 minutes, 24
 * hours, 31 days), so every calendar window lies within the rolling one at its last request, and cannot hold more.
 *
 * `pollsPerWindow`: what the schedules that share the budget ask of it, as `requestsPerWindow` counts it. `slackMs`: each request
 * counts so much longer.
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

/** The ledger of endpoints without a budget: all that it has is what the provider refused. */
export const UNLIMITED: Ledger = {
  limit: Number.POSITIVE_INFINITY,
  per: null,
  windowMs: HOUR_MS,
  reserve: 0,
  buckets: [],
  backOff: NO_BACK_OFF,
};

/** The most of these polls that can count at one instant: the longest window plus the span at its end. */
export function countedAtOnce({ per }: Pick<Budget, "per">, pollsPerWindow: number): number {
  const { windowMs, nominalMs } = WINDOWS[per];
  return Math.ceil((pollsPerWindow * (windowMs + bucketMs(windowMs))) / nominalMs);
}

/** How many of these polls fall into a time of this length, on average; rounded up. */
export function askedWithin(lengthMs: number, { per }: Pick<Budget, "per">, pollsPerWindow: number): number {
  return Math.ceil((pollsPerWindow * lengthMs) / WINDOWS[per].nominalMs);
}

/**
 * Takes one request from the ledger, or refuses it.
 *
 * In every window scheduled polls come first. An opportunistic request is allowed only if, with it, all opportunistic
 * requests of the window and all polls that the schedule makes in a window (or has made, if more) fit the limit.
 */
export function take(
  ledger: Ledger,
  use: Use,
  nowMs: number,
): { readonly ledger: Ledger; readonly allowed: boolean } {
  const current = expire(ledger, nowMs);
  const { scheduled, opportunistic } = counted(current, nowMs);
  const committed = (use === "scheduled" ? scheduled : Math.max(scheduled, current.reserve)) + opportunistic;
  if (isBackingOff(current.backOff, nowMs) || committed + 1 > current.limit) {
    return { ledger: current, allowed: false };
  }
  const backOff = startProbe(current.backOff, nowMs);
  if (current.per === null) {
    return { ledger: backOff === current.backOff ? current : { ...current, backOff }, allowed: true };
  }
  const endMs = bucketEnd(current, nowMs);
  const bucket: Bucket = use === "scheduled" ? [endMs, 1, 0] : [endMs, 0, 1];
  return { ledger: { ...current, buckets: withBucket(current.buckets, bucket), backOff }, allowed: true };
}

/** Counts requests that may be sent until then: so many, but no more than the limit leaves. */
export function countSent(ledger: Ledger, requests: number, nowMs: number, untilMs: number): Ledger {
  const current = expire(ledger, nowMs);
  const sent = Math.min(requests, current.limit - usedAt(current, nowMs));
  const bucket: Bucket = [bucketEnd(current, untilMs), sent, 0];
  return sent <= 0 ? current : { ...current, buckets: withBucket(current.buckets, bucket) };
}

/** Requests that count against the limit at this instant: never fewer than were made in the window. */
export function usedAt(ledger: Ledger, nowMs: number): number {
  const { scheduled, opportunistic } = counted(expire(ledger, nowMs), nowMs);
  return scheduled + opportunistic;
}

/** Requests left at this instant; none during a back-off. */
export function remainingAt(ledger: Ledger, nowMs: number): number {
  const current = expire(ledger, nowMs);
  return isBackingOff(current.backOff, nowMs) ? 0 : Math.max(0, current.limit - usedAt(current, nowMs));
}

/** The first instant at which such a request is allowed if no other request is made before; null if never. */
export function freeAgainMs(ledger: Ledger, use: Use, nowMs: number): number | null {
  const current = expire({ ...ledger, backOff: NO_BACK_OFF }, nowMs);
  const instants = [nowMs, ...current.buckets.map(([endMs]) => endMs + current.windowMs)];
  return instants.find((atMs) => atMs >= nowMs && take(current, use, atMs).allowed) ?? null;
}

/** Folds in a refusal of the provider: nothing is taken until the back-off ends. */
export function block(ledger: Ledger, refusal: Refusal): Ledger {
  const current = expire(ledger, refusal.nowMs);
  return { ...current, backOff: backOff(current.backOff, refusal, current.per) };
}

/** A bucket counts until its whole span has left the window. After a clock was put back, so does one of the future. */
function counted({ buckets, windowMs }: Ledger, nowMs: number): Record<Use, number> {
  const counts = { scheduled: 0, opportunistic: 0 };
  for (const [endMs, scheduled, opportunistic] of buckets) {
    if (endMs + windowMs > nowMs) {
      counts.scheduled += scheduled;
      counts.opportunistic += opportunistic;
    }
  }
  return counts;
}

/**
 * Drops buckets that no corrected clock can bring back into the window. A bucket further in the future than a clock
 * error explains was written under a wrong clock, in truth before now; it counts from now.
 */
function expire(ledger: Ledger, nowMs: number): Ledger {
  const { buckets, windowMs, per } = ledger;
  const oldestMs = nowMs - windowMs - CLOCK_ERROR_MS;
  const nowEndMs = bucketEnd(ledger, nowMs);
  const newestMs = nowEndMs + CLOCK_ERROR_MS;
  const clamped = clampBackOff(ledger.backOff, nowMs, per);
  if (buckets.every(([endMs]) => endMs > oldestMs && endMs <= newestMs)) {
    return clamped === ledger.backOff ? ledger : { ...ledger, backOff: clamped };
  }
  const kept = buckets
    .filter(([endMs]) => endMs > oldestMs)
    .map(([endMs, ...counts]): Bucket => [endMs > newestMs ? nowEndMs : endMs, ...counts]);
  return { ...ledger, buckets: merged(kept), backOff: clamped };
}

/** Nearly every request falls into the latest span, where only the count changes. */
function withBucket(buckets: readonly Bucket[], bucket: Bucket): readonly Bucket[] {
  const latest = buckets.at(-1);
  return latest !== undefined && latest[0] === bucket[0]
    ? buckets.with(-1, joined(latest, bucket))
    : merged([...buckets, bucket]);
}

/** One bucket a span, oldest first. If there are too many, the oldest ones join the next, and so count longer. */
function merged(buckets: readonly Bucket[]): readonly Bucket[] {
  const byEnd = new Map<number, Bucket>();
  for (const bucket of buckets) {
    const [endMs] = bucket;
    const same = byEnd.get(endMs);
    byEnd.set(endMs, same === undefined ? bucket : joined(same, bucket));
  }
  const sorted = [...byEnd.values()].sort(([one], [other]) => one - other);
  const surplus = sorted.length - MOST_BUCKETS;
  if (surplus <= 0) {
    return sorted;
  }
  const oldest = sorted.slice(0, surplus + 1).reduce(joined);
  return [oldest, ...sorted.slice(surplus + 1)];
}

/** The requests of both, which count until the end of the later one. */
function joined(
  [, earlierScheduled, earlierOpportunistic]: Bucket,
  [endMs, scheduled, opportunistic]: Bucket,
): Bucket {
  return [endMs, earlierScheduled + scheduled, earlierOpportunistic + opportunistic];
}

function bucketEnd({ windowMs }: Ledger, nowMs: number): number {
  const spanMs = bucketMs(windowMs);
  return (Math.floor(nowMs / spanMs) + 1) * spanMs;
}

/** The length of a span; requests within one span are counted together. */
function bucketMs(windowMs: number): number {
  return windowMs / BUCKETS_PER_WINDOW;
}
