import type { Budget } from "../core/model/fleet.ts";
import { type BackOff, backOff, clampBackOff, isBackingOff, NO_BACK_OFF, type Refusal } from "./back-off.ts";

/**
 * What a request is for. `poll`: the schedule asks for it. `spare`: retries, people, targets in doubt; it gets
 * only what the schedule leaves.
 */
export type Use = "poll" | "spare";

/** Requests that were made within one short span of time. */
interface Bucket {
  /** End of the span, unix milliseconds. */
  readonly endMs: number;
  readonly polls: number;
  readonly spares: number;
}

/** What must outlive the process of a ledger: plain data for the state file. */
export interface LedgerSnapshot {
  /** Oldest first. */
  readonly buckets: readonly Bucket[];
  readonly backOff: BackOff;
}

/** What was spent of one budget, and on what terms. Replaced, never edited. */
export interface Ledger extends LedgerSnapshot {
  readonly limit: number;
  readonly windowMs: number;
  /** Kept free for the schedule's own polls in every window. */
  readonly reserve: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A month's window is its longest, 31 days. `nominalMs` is what the schedule's polls are counted for, the mean month. */
const WINDOWS = {
  hour: { windowMs: HOUR_MS, nominalMs: HOUR_MS },
  day: { windowMs: DAY_MS, nominalMs: DAY_MS },
  month: { windowMs: 31 * DAY_MS, nominalMs: 30.4 * DAY_MS },
} as const;

const BUCKETS_PER_WINDOW = 24;
const MOST_BUCKETS = 100;
/** A clock that was wrong by up to this much, and is put right, makes no ledger forget anything. */
const CLOCK_ERROR_MS = DAY_MS;

/**
 * Starts the ledger of a budget from which nothing was spent.
 *
 * Only the rolling window is counted: it ends now and is as long as the longest calendar window (60 minutes, 24
 * hours, 31 days), so every calendar window lies within the rolling one at its last request, and cannot hold more.
 *
 * `pollsPerWindow`: what the schedules that share the budget ask of it, as `requestsPerWindow` counts it.
 */
export function startLedger(budget: Budget, pollsPerWindow: number): Ledger {
  return {
    limit: budget.limit,
    windowMs: WINDOWS[budget.per].windowMs,
    reserve: Math.min(budget.limit, countedAtOnce(budget, pollsPerWindow)),
    buckets: [],
    backOff: NO_BACK_OFF,
  };
}

/** How many of these polls may count at one instant: those of the longest window, and of the span that ends it. */
export function countedAtOnce({ per }: Pick<Budget, "per">, pollsPerWindow: number): number {
  const { windowMs, nominalMs } = WINDOWS[per];
  return Math.ceil((pollsPerWindow * (windowMs + bucketMs(windowMs))) / nominalMs);
}

/** Carries over what was spent under former terms, or by a former process. */
export function resumeLedger(ledger: Ledger, account: LedgerSnapshot): Ledger {
  return { ...ledger, buckets: account.buckets, backOff: account.backOff };
}

/**
 * Takes one request from the ledger, or refuses it.
 *
 * The reserve rule: in every window the schedule's own polls come first. A spare use is allowed only while, with
 * it, all spare uses of the window and all polls that the schedule makes in a window (or has made, if more) fit.
 */
export function take(
  ledger: Ledger,
  request: { readonly nowMs: number; readonly use: Use },
): { readonly ledger: Ledger; readonly allowed: boolean } {
  const { nowMs, use } = request;
  const current = settle(ledger, nowMs);
  const { polls, spares } = counted(current, nowMs);
  const spoken = use === "poll" ? polls + spares : Math.max(polls, current.reserve) + spares;
  if (isBackingOff(current.backOff, nowMs) || spoken + 1 > current.limit) {
    return { ledger: current, allowed: false };
  }
  const made = use === "poll" ? { polls: 1, spares: 0 } : { polls: 0, spares: 1 };
  const bucket = { endMs: bucketEnd(current, nowMs), ...made };
  return { ledger: { ...current, buckets: withBucket(current.buckets, bucket) }, allowed: true };
}

/** Requests that count against the limit at this instant: never fewer than were made in the window. */
export function usedAt(ledger: Ledger, nowMs: number): number {
  const { polls, spares } = counted(settle(ledger, nowMs), nowMs);
  return polls + spares;
}

/** Requests that are left at this instant; none while the provider refuses us. */
export function remainingAt(ledger: Ledger, nowMs: number): number {
  const current = settle(ledger, nowMs);
  const { polls, spares } = counted(current, nowMs);
  return isBackingOff(current.backOff, nowMs) ? 0 : Math.max(0, current.limit - polls - spares);
}

/** The first instant from now at which such a use will be allowed, if nothing is taken until then; null if never. */
export function freeAgainMs(
  ledger: Ledger,
  request: { readonly nowMs: number; readonly use: Use },
): number | null {
  const { nowMs, use } = request;
  const current = settle({ ...ledger, backOff: NO_BACK_OFF }, nowMs);
  const instants = [nowMs, ...current.buckets.map(({ endMs }) => endMs + current.windowMs)];
  return instants.find((atMs) => atMs >= nowMs && take(current, { nowMs: atMs, use }).allowed) ?? null;
}

/** The provider says that its limit is reached: nothing is taken until the time that it names, at most one window. */
export function block(ledger: Ledger, refusal: Omit<Refusal, "longestMs">): Ledger {
  const current = settle(ledger, refusal.nowMs);
  return { ...current, backOff: backOff(current.backOff, { ...refusal, longestMs: current.windowMs }) };
}

/** A bucket counts until its whole span has left the window, and where a clock was put back, also one of the future. */
function counted({ buckets, windowMs }: Ledger, nowMs: number): { polls: number; spares: number } {
  let polls = 0;
  let spares = 0;
  for (const bucket of buckets) {
    if (bucket.endMs + windowMs > nowMs) {
      polls += bucket.polls;
      spares += bucket.spares;
    }
  }
  return { polls, spares };
}

/**
 * Drops what no clock error can bring back. What lies further in the future than that was made under a broken
 * clock, before now in truth, and counts from now.
 */
function settle(ledger: Ledger, nowMs: number): Ledger {
  const { buckets, windowMs } = ledger;
  const oldestMs = nowMs - windowMs - CLOCK_ERROR_MS;
  const nowEndMs = bucketEnd(ledger, nowMs);
  const newestMs = nowEndMs + CLOCK_ERROR_MS;
  const backingOff = clampBackOff(ledger.backOff, nowMs, windowMs);
  if (buckets.every(({ endMs }) => endMs > oldestMs && endMs <= newestMs)) {
    return backingOff === ledger.backOff ? ledger : { ...ledger, backOff: backingOff };
  }
  const kept = buckets
    .filter(({ endMs }) => endMs > oldestMs)
    .map((bucket) => (bucket.endMs > newestMs ? { ...bucket, endMs: nowEndMs } : bucket));
  return { ...ledger, buckets: merged(kept), backOff: backingOff };
}

/** Nearly every request falls into the latest span, of which only the count changes. */
function withBucket(buckets: readonly Bucket[], bucket: Bucket): readonly Bucket[] {
  const latest = buckets.at(-1);
  return latest?.endMs === bucket.endMs
    ? buckets.with(-1, joined(bucket, latest))
    : merged([...buckets, bucket]);
}

/** One bucket a span, oldest first, and not too many: the oldest then join the next, and so count longer. */
function merged(buckets: readonly Bucket[]): readonly Bucket[] {
  const byEnd = new Map<number, Bucket>();
  for (const bucket of buckets) {
    byEnd.set(bucket.endMs, joined(bucket, byEnd.get(bucket.endMs)));
  }
  const sorted = [...byEnd.values()].sort((a, b) => a.endMs - b.endMs);
  const surplus = sorted.length - MOST_BUCKETS;
  if (surplus <= 0) {
    return sorted;
  }
  const oldest = sorted.slice(0, surplus + 1).reduce((sum, bucket) => joined(bucket, sum));
  return [oldest, ...sorted.slice(surplus + 1)];
}

function joined(later: Bucket, earlier: Bucket | undefined): Bucket {
  return {
    endMs: later.endMs,
    polls: later.polls + (earlier?.polls ?? 0),
    spares: later.spares + (earlier?.spares ?? 0),
  };
}

function bucketEnd({ windowMs }: Ledger, nowMs: number): number {
  const spanMs = bucketMs(windowMs);
  return (Math.floor(nowMs / spanMs) + 1) * spanMs;
}

function bucketMs(windowMs: number): number {
  return windowMs / BUCKETS_PER_WINDOW;
}
