import { isIPv6 } from "node:net";
import { validate } from "node-cron";
import { z } from "zod";
import type { Limit } from "../core/model/limit.ts";
import { formatCount } from "../core/model/text.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import type { ListenAddress } from "./config.ts";

/** Sizes of units in the base unit, the smallest first. */
type Units = Readonly<Record<string, number>>;

const MILLISECONDS: Units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Units = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Node's timers overflow beyond 24 days and fire at once. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** How error messages describe a duration. */
export const DURATION = "a duration such as 250ms, 10s, 5m, 1h or 1d, at most 24d";

/** A duration in chains.yaml; milliseconds once parsed. */
export const Duration = parsed(parseDuration, {
  expected: DURATION,
  pattern: patternOf(MILLISECONDS).source,
});

const BLOCKS = /^([1-9]\d*) blocks?$/;

/** How error messages describe a lag limit. */
export const LIMIT = "a duration such as 10m or 1d, at most 24d, or a number of blocks such as 50 blocks";

/** How far behind a target may be, in chains.yaml. */
export const LagLimit = parsed(parseLimit, {
  expected: LIMIT,
  pattern: `${patternOf(MILLISECONDS).source}|${BLOCKS.source}`,
});

/** The limit of `10m` or `50 blocks`; null for any other text. */
export function parseLimit(text: string): Limit | null {
  const blocks = Number(BLOCKS.exec(text)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(blocks)) {
    return { ms: null, blocks };
  }
  const ms = parseDuration(text);
  return ms === null ? null : { ms, blocks: null };
}

/** A limit as chains.yaml writes it. */
export function limitLiteral({ ms, blocks }: Limit): string {
  return blocks === null ? durationLiteral(ms ?? 0) : formatCount(blocks, "block");
}

const END = "a date such as 2026-06-30, or the number of a block";

/** When a chain or an indexer ends, in chains.yaml. */
export const Until = z
  .union([z.int().positive().meta({ expected: END }), z.iso.date().meta({ expected: END })])
  .meta({ expected: END });

/** A size in chains.yaml; bytes once parsed. At most 1 GiB, because a response of this size is held in memory. */
export const ByteSize = parsed((text) => parseQuantity(text, BYTES, 2 ** 30), {
  expected: "a size such as 512KiB or 1MiB, at most 1GiB",
  pattern: patternOf(BYTES).source,
});

/** The time between two requests, in chains.yaml; milliseconds once parsed. */
export const Interval = parsed((text) => parseQuantity(text, MILLISECONDS, 86_400_000, 10_000), {
  expected: "a duration from 10s to 1d",
});

/** A time to wait, which may be 0s; milliseconds once parsed. */
export const Delay = parsed((text) => parseQuantity(text, MILLISECONDS, MAX_DURATION_MS, 0), {
  expected: `0s, or ${DURATION}`,
  pattern: patternOf(MILLISECONDS).source,
});

/** Milliseconds of `250ms`, `0.25s`, `10s`, `5m`, `1h` or `1d`; null for any other text, for zero and for more than 24 days. */
export function parseDuration(text: string): number | null {
  return parseQuantity(text, MILLISECONDS, MAX_DURATION_MS);
}

/** A duration as chains.yaml writes it, in the largest unit that needs no fraction. */
function durationLiteral(ms: number): string {
  const [unit, size] = Object.entries(MILLISECONDS).findLast(([, unitMs]) => ms % unitMs === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

function patternOf(units: Units): RegExp {
  return new RegExp(String.raw`^(\d+(?:\.\d+)?)(${Object.keys(units).join("|")})$`);
}

function parseQuantity(text: string, units: Units, max: number, min = 1): number | null {
  const [, digits, unit = ""] = patternOf(units).exec(text) ?? [];
  const value = Math.round(Number(digits) * (units[unit] ?? Number.NaN));
  return value >= min && value <= max ? value : null;
}

/** A string that `parse` turns into a value; null: the string is invalid. */
function parsed<T>(parse: (text: string) => T | null, meta: z.core.GlobalMeta) {
  return z
    .string()
    .refine((text) => parse(text) !== null)
    .meta(meta)
    .transform((text): T => parse(text) ?? z.NEVER);
}

const LISTEN = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

/** `listen` in chains.yaml. */
export const Listen = parsed(parseListenAddress, {
  expected: "HOST:PORT such as 127.0.0.1:9855 or [::1]:9855",
  pattern: LISTEN.source,
});

/** The address of `HOST:PORT`, an IPv6 host in brackets; null for any other text. Port 0 means any free port. */
export function parseListenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain, port] = LISTEN.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isInvalid = host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(host));
  return isInvalid ? null : { host, port: Number(port) };
}

const CRON = "six fields, seconds first, such as */15 * * * * *";

/** Refuses an expression that never fires, such as one for 31 February. `isCron` refuses all other mistakes. */
const EVER_FIRES: Parameters<z.ZodString["refine"]> = [
  (text) => !isCron(text) || (validate(text) && firingsOf(text).perDay > 0),
  {
    error: ({ input }) =>
      `found ${JSON.stringify(input)}, which never fires: none of its months has such a day`,
  },
];

/** A node-cron expression of six fields that fires at least once. */
export const CronSchedule = z
  .string()
  .refine(isCron)
  .refine(...EVER_FIRES)
  .meta({ expected: CRON });

/** A node-cron expression, or `auto`: the fastest schedule that fits the budget. */
export const Schedule = z
  .string()
  .refine((text) => text === "auto" || isCron(text))
  .refine(...EVER_FIRES)
  .meta({ expected: `auto, or ${CRON}`, examples: ["auto", "*/15 * * * * *", "0 */30 * * * *"] });

/** Longer expressions are refused. The longest sensible field has 60 numbers. */
const MAX_CRON_LENGTH = 1_000;
/** A range with a number of three digits, which no field has. Danger: node-cron expands a range of any length before checking it. */
const HUGE_RANGE = /\d{3}-|-\d{3}/;

/** Whether it has six valid fields. Day and month are checked apart, because node-cron refuses a day that none of the months has. */
function isCron(text: string): boolean {
  if (text.length > MAX_CRON_LENGTH || HUGE_RANGE.test(text)) {
    return false;
  }
  const fields = text.trim().split(/\s+/);
  const [day, month] = [3, 4];
  return fields.length === 6 && [day, month].every((one) => validate(fields.with(one, "*").join(" ")));
}
