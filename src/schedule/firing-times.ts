import { createTask, parse } from "node-cron";

/** When a schedule fires, in UTC, where no day has 23 or 25 hours. */
export interface Firings {
  /** In its busiest hour. */
  readonly perHour: number;
  /** On a day on which it fires. */
  readonly perDay: number;
  /** 30.4 for a schedule of every day, else the most days on which it fires within any 31. */
  readonly daysPerMonth: number;
  /** The longest time between two firings; Infinity for a schedule that never fires, whose counts are 0. */
  readonly longestIntervalMs: number;
  /** The days of the cycle on which it does, ascending. */
  readonly days: ReadonlySet<number>;
  /** Milliseconds since midnight at which it does on such a day, ascending. */
  readonly timesMs: readonly number[];
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const MEAN_MONTH_DAYS = 30.4;
const LONGEST_MONTH_DAYS = 31;
/** Weekdays and leap years repeat every 28 years within a century: each kind of date occurs in them. */
const CYCLE_DAYS = 10_227;
const CYCLE_START_DAY = Date.UTC(2000, 0, 1) / DAY_MS;
const EVERY_DAY: ReadonlySet<number> = new Set(Array.from({ length: CYCLE_DAYS }, (_, day) => day));

/** A fleet has thousands of endpoints but few expressions; an expression with restricted days takes 0.1 s to compute. */
const known = new Map<string, Firings>();

/**
 * When a node-cron expression fires. A valid one may never do, as `0 0 0 L-30 2 *`: node-cron wants day, month and weekday to match all
 * three, and a timer for one that never does crashes.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export function firingsOf(cron: string): Firings {
  const firings = known.get(cron) ?? findFirings(cron);
  known.set(cron, firings);
  return firings;
}

/** When an expression fired last: at or before an instant, and within `backMs` of it; null if it did not. @throws As `firingsOf`. */
export function lastFiringMs(cron: string, nowMs: number, backMs: number): number | null {
  const { days, timesMs } = firingsOf(cron);
  for (let day = Math.floor(nowMs / DAY_MS); (day + 1) * DAY_MS > nowMs - backMs; day -= 1) {
    const time = days.has(dayOfCycle(day)) ? timesMs.findLast((ms) => day * DAY_MS + ms <= nowMs) : undefined;
    if (time !== undefined) {
      const firedMs = day * DAY_MS + time;
      return firedMs > nowMs - backMs ? firedMs : null;
    }
  }
  return null;
}

function findFirings(cron: string): Firings {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron);
  const [hours, minutes, seconds] = [hour, minute, second].map((values) =>
    [...new Set(values)].sort(ascending),
  );
  const timesMs = (hours ?? []).flatMap((h) =>
    (minutes ?? []).flatMap((m) => (seconds ?? []).map((s) => ((h * 60 + m) * 60 + s) * SECOND_MS)),
  );
  const isDaily = covers(dayOfMonth, 1, 31) && covers(month, 1, 12) && covers(dayOfWeek, 0, 6);
  const days = isDaily ? EVERY_DAY : matchingDays(cron, timesMs[0] ?? 0);
  if (days.size === 0) {
    const longestIntervalMs = Number.POSITIVE_INFINITY;
    return { perHour: 0, perDay: 0, daysPerMonth: 0, longestIntervalMs, days, timesMs };
  }
  return {
    perHour: (seconds ?? []).length * (minutes ?? []).length,
    perDay: timesMs.length,
    daysPerMonth: isDaily ? MEAN_MONTH_DAYS : mostWithinMonth([...days]),
    longestIntervalMs: longestStep(timesMs, (isDaily ? 1 : longestStep([...days], CYCLE_DAYS)) * DAY_MS),
    days,
    timesMs,
  };
}

/** The days of the cycle on which node-cron says that an expression fires at this time: it decides what L, W and # mean. */
function matchingDays(cron: string, timeMs: number): ReadonlySet<number> {
  const task = createTask(cron, () => undefined, { timezone: "UTC" });
  const days = [...EVERY_DAY].filter((day) =>
    task.match(new Date((CYCLE_START_DAY + day) * DAY_MS + timeMs)),
  );
  void task.destroy();
  return new Set(days);
}

function dayOfCycle(day: number): number {
  return (((day - CYCLE_START_DAY) % CYCLE_DAYS) + CYCLE_DAYS) % CYCLE_DAYS;
}

function covers(values: readonly unknown[], from: number, to: number): boolean {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i).every((value) => values.includes(value));
}

function ascending(one: number, other: number): number {
  return one - other;
}

/** The longest step from one value to the next, or from the last one to the first of the next period. */
function longestStep(values: readonly number[], period: number): number {
  const [first = 0] = values;
  return [...values, period + first].reduce(
    (longest, value, i, all) => Math.max(longest, value - (all[i - 1] ?? value)),
    0,
  );
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
