import { createTask, parse } from "node-cron";
import { DAY_MS } from "../core/model/durations.ts";

/** When a schedule fires, in UTC, where no day has 23 or 25 hours. */
interface Firings {
  readonly perHour: number;
  /** The number of firings on a day with firings; 0 for a schedule that never fires. */
  readonly perDay: number;
  /** 30.4 for a schedule of every day, else the largest number of days with firings within any 31. */
  readonly daysPerMonth: number;
  /** The longest time between two firings; Infinity for a schedule that never fires. */
  readonly longestIntervalMs: number;
  /** Whether it fires on this day, counted from 1970. */
  readonly isDue: (day: number) => boolean;
  /** Milliseconds since midnight at which it fires on a due day, ascending. */
  readonly timesMs: readonly number[];
}

const MEAN_MONTH_DAYS = 30.4;
const LONGEST_MONTH_DAYS = 31;
/** Four years, one of them a leap year. */
const SEARCHED_DAYS = 1_461;
const FIRST_DAY = Date.UTC(2024, 0, 1) / DAY_MS;

/** By expression. A fleet has thousands of endpoints but few expressions, and each takes some milliseconds to compute. */
const known = new Map<string, Firings>();

/**
 * When a node-cron expression fires. A valid expression may never fire, such as `0 0 0 L-30 2 *`, for which a timer of
 * node-cron crashes. An expression without a firing in four years counts as never firing.
 *
 * @throws {Error} If node-cron cannot parse the expression.
 */
export function firingsOf(cron: string): Firings {
  const firings = known.get(cron) ?? findFirings(cron);
  known.set(cron, firings);
  return firings;
}

/** When an expression fired last: at `nowMs`, or less than `backMs` before; null if it did not. @throws As `firingsOf`. */
export function lastFiringMs(cron: string, nowMs: number, backMs: number): number | null {
  const { isDue, timesMs } = firingsOf(cron);
  for (let day = Math.floor(nowMs / DAY_MS); (day + 1) * DAY_MS > nowMs - backMs; day -= 1) {
    const firedMs = day * DAY_MS + (timesMs.findLast((ms) => day * DAY_MS + ms <= nowMs) ?? Number.NaN);
    // The time is compared first: node-cron takes thirty microseconds to match a day.
    if (firedMs > nowMs - backMs && isDue(day)) {
      return firedMs;
    }
  }
  return null;
}

function findFirings(cron: string): Firings {
  const { second, minute, hour } = parse(cron);
  const [hours, minutes, seconds] = [valuesOf(hour), valuesOf(minute), valuesOf(second)];
  const timesMs = hours.flatMap((h) =>
    minutes.flatMap((m) => seconds.map((s) => ((h * 60 + m) * 60 + s) * 1_000)),
  );
  const { daysPerMonth, isDue, longestPauseDays } = findDays(cron);
  const isNever = daysPerMonth === 0;
  return {
    perHour: isNever ? 0 : seconds.length * minutes.length,
    perDay: isNever ? 0 : timesMs.length,
    daysPerMonth,
    longestIntervalMs: isNever
      ? Number.POSITIVE_INFINITY
      : longestStep([...timesMs, longestPauseDays * DAY_MS + (timesMs[0] ?? 0)]),
    isDue,
    timesMs,
  };
}

/**
 * By the day fields of an expression, because node-cron takes long to match a day. A fleet may give each endpoint its own
 * second, but the days are the same for all.
 */
const knownDays = new Map<string, ReturnType<typeof matchDays>>();

function findDays(cron: string): ReturnType<typeof matchDays> {
  const dates = cron.trim().split(/\s+/).slice(3).join(" ");
  const days = knownDays.get(dates) ?? matchDays(`0 0 0 ${dates}`);
  knownDays.set(dates, days);
  return days;
}

/** The days of an expression that fires at midnight. */
function matchDays(midnight: string) {
  // node-cron decides what L, W and # mean.
  const task = createTask(midnight, () => undefined, { timezone: "UTC" });
  const isDue = (day: number): boolean => task.match(new Date(day * DAY_MS));
  const days = Array.from({ length: SEARCHED_DAYS }, (_, day) => day).filter((day) => isDue(FIRST_DAY + day));
  return {
    isDue,
    daysPerMonth: days.length === SEARCHED_DAYS ? MEAN_MONTH_DAYS : mostWithinMonth(days),
    longestPauseDays: days.length > 1 ? longestStep(days) : SEARCHED_DAYS,
  };
}

function valuesOf(field: readonly unknown[]): readonly number[] {
  return [...new Set(field.map(Number))].sort((one, other) => one - other);
}

/** The longest step from one value to the next. */
function longestStep(values: readonly number[]): number {
  return values.reduce((longest, value, i) => Math.max(longest, value - (values[i - 1] ?? value)), 0);
}

function mostWithinMonth(days: readonly number[]): number {
  const starting = days.map((first) =>
    days.filter((day) => day >= first && day < first + LONGEST_MONTH_DAYS),
  );
  return Math.max(0, ...starting.map((month) => month.length));
}
