import { createTask, parse } from "node-cron";

/** How often a schedule fires at its busiest: what a budget has to bear. */
export interface FiringRate {
  /** In its busiest hour. */
  readonly perHour: number;
  /** On a day on which it fires. */
  readonly perDay: number;
  /** 30.4 for a schedule of every day, else the most days on which it fires within any 31. */
  readonly daysPerMonth: number;
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const EVERY_DAY = { longestGap: 1, perMonth: 30.4 };
const LONGEST_MONTH_DAYS = 31;
/** Weekdays and leap years repeat every 28 years within a century: each kind of date occurs in them. */
const CYCLE_DAYS = 10_227;
const CYCLE_START_MS = Date.UTC(2000, 0, 1);

interface FiringDays {
  /** Days from one to the next, at most. */
  readonly longestGap: number;
  readonly perMonth: number;
}

/**
 * Says how often a node-cron expression fires at its busiest. All firing times are in UTC, where no day has 23 or 25 hours.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export const firingRate: (cron: string) => FiringRate = memoizeByText((cron) => {
  const days = firingDays(cron);
  if (days === null) {
    return { perHour: 0, perDay: 0, daysPerMonth: 0 };
  }
  const { second, minute, hour } = parse(cron);
  const perHour = new Set(second).size * new Set(minute).size;
  return { perHour, perDay: perHour * new Set(hour).size, daysPerMonth: days.perMonth };
});

/**
 * Requests that a node-cron expression makes on a day on which it fires; 0 if it never fires.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export function requestsPerDay(cron: string): number {
  return firingRate(cron).perDay;
}

/**
 * The longest time between two firings of a node-cron expression, in UTC; Infinity if it never fires.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export const longestIntervalMs: (cron: string) => number = memoizeByText((cron) => {
  const days = firingDays(cron);
  if (days === null) {
    return Number.POSITIVE_INFINITY;
  }
  const times = timesOfDay(cron);
  return Math.max(longestStep(times), firstAfter(times, days.longestGap * DAY_MS));
});

/**
 * Whether no date exists that a valid node-cron expression matches, as with `0 0 0 L-30 2 *`.
 *
 * node-cron wants day, month and weekday to match all three, and a timer for one that never does crashes.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export function neverFires(cron: string): boolean {
  return firingDays(cron) === null;
}

/**
 * When a node-cron expression fired last, in UTC: at or before an instant, and within `backMs` of it; null if it did not.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export function lastFiringMs(cron: string, nowMs: number, backMs: number): number | null {
  const times = timesOfDay(cron);
  const task = createTask(cron, () => undefined, { timezone: "UTC" });
  try {
    for (
      let midnightMs = nowMs - (nowMs % DAY_MS);
      midnightMs + DAY_MS > nowMs - backMs;
      midnightMs -= DAY_MS
    ) {
      const time = times.findLast((ms) => midnightMs + ms <= nowMs);
      if (time !== undefined && task.match(new Date(midnightMs + time))) {
        return midnightMs + time > nowMs - backMs ? midnightMs + time : null;
      }
    }
    return null;
  } finally {
    void task.destroy();
  }
}

/** Milliseconds since midnight at which it fires on a day on which it does, ascending. */
function timesOfDay(cron: string): readonly number[] {
  const fields = parse(cron);
  const seconds = ascending(fields.second);
  const minutes = ascending(fields.minute);
  return ascending(fields.hour).flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => ((hour * 60 + minute) * 60 + second) * SECOND_MS)),
  );
}

/** A fleet has thousands of endpoints and few expressions, and one that restricts its days takes 0.1 s to work out. */
function memoizeByText<Value>(work: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text) ?? work(text);
    known.set(text, value);
    return value;
  };
}

/** How far apart and how dense the days on which it fires are; null if there are none. */
function firingDays(cron: string): FiringDays | null {
  const { dayOfMonth, month, dayOfWeek } = parse(cron);
  if (covers(dayOfMonth, 1, 31) && covers(month, 1, 12) && covers(dayOfWeek, 0, 6)) {
    return EVERY_DAY;
  }
  const [time = 0] = timesOfDay(cron);
  // node-cron itself decides what L, W and # mean.
  const task = createTask(cron, () => undefined, { timezone: "UTC" });
  const days = Array.from({ length: CYCLE_DAYS }, (_, day) => day).filter((day) =>
    task.match(new Date(CYCLE_START_MS + day * DAY_MS + time)),
  );
  void task.destroy();
  if (days.length === 0) {
    return null;
  }
  return {
    longestGap: Math.max(longestStep(days), firstAfter(days, CYCLE_DAYS)),
    perMonth: mostWithinMonth(days),
  };
}

function covers(values: readonly unknown[], from: number, to: number): boolean {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i).every((value) => values.includes(value));
}

function ascending(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function longestStep(values: readonly number[]): number {
  return values.reduce((longest, value, i) => Math.max(longest, value - (values[i - 1] ?? value)), 0);
}

/** The step from the last value to the first one of the next period. */
function firstAfter(values: readonly number[], period: number): number {
  const [first = 0] = values;
  return period + first - (values.at(-1) ?? first);
}

/** The most days of the cycle that lie within one month. */
function mostWithinMonth(days: readonly number[]): number {
  const unrolled = [...days, ...days.map((day) => day + CYCLE_DAYS)];
  let start = 0;
  let most = 0;
  for (const [end, day] of unrolled.entries()) {
    while (day - (unrolled[start] ?? day) >= LONGEST_MONTH_DAYS) {
      start += 1;
    }
    most = Math.max(most, end - start + 1);
  }
  return most;
}
