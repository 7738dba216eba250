import { isIPv6 } from "node:net";
import { validateDetailed } from "node-cron";
import { z } from "zod";
import { firingsOf } from "../schedule/firing-times.ts";
import type { ListenAddress } from "./config.ts";

/** A number with a unit, such as `10s`. Values are in the base unit. */
interface Quantity {
  readonly expected: string;
  readonly pattern: RegExp;
  readonly units: Readonly<Record<string, number>>;
  readonly max: number;
  readonly examples: string[];
}

const DURATION: Quantity = {
  expected: "a duration such as 250ms, 10s, 5m or 1h, at most 24 days",
  pattern: /^(\d+(?:\.\d+)?)(ms|s|m|h)$/,
  units: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
  // Node's timers overflow beyond this and fire at once.
  max: 2 ** 31 - 1,
  examples: ["250ms", "10s", "5m", "1h"],
};

/** A duration in chains.yaml; milliseconds once parsed. */
export const Duration = quantitySchema(DURATION);

/** A size in chains.yaml; bytes once parsed. */
export const ByteSize = quantitySchema({
  expected: "a size such as 512KiB or 1MiB, at most 1GiB",
  pattern: /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/,
  units: { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  // A response of this size is held in memory.
  max: 2 ** 30,
  examples: ["512KiB", "1MiB"],
});

/** A duration from `leastMs` to `mostMs`. */
export function durationBetween(leastMs: number, mostMs: number) {
  return parsed((text) => {
    const ms = parseDuration(text);
    return ms !== null && ms >= leastMs && ms <= mostMs ? ms : null;
  }).meta({ expected: `a duration from ${durationLiteral(leastMs)} to ${durationLiteral(mostMs)}` });
}

/** Milliseconds of `250ms`, `0.25s`, `10s`, `5m` or `1h`; null for any other text, for zero and for more than 24 days. */
export function parseDuration(text: string): number | null {
  return parseQuantity(text, DURATION);
}

/** A duration as chains.yaml writes it, in the largest unit that needs no fraction. */
export function durationLiteral(ms: number): string {
  const units = Object.entries(DURATION.units);
  const [unit, size] = units.findLast(([, unitMs]) => ms % unitMs === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

function quantitySchema(quantity: Quantity) {
  const { expected, pattern, examples } = quantity;
  return parsed((text) => parseQuantity(text, quantity)).meta({
    expected,
    pattern: pattern.source,
    examples,
  });
}

function parseQuantity(text: string, { pattern, units, max }: Quantity): number | null {
  const [, digits, unit] = pattern.exec(text) ?? [];
  const value = Math.round(Number(digits) * (units[unit ?? ""] ?? Number.NaN));
  return value >= 1 && value <= max ? value : null;
}

/** A string as what `parse` makes of it; null is refused. */
function parsed<T>(parse: (text: string) => T | null) {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value === null) {
      context.addIssue({ code: "custom" });
      return z.NEVER;
    }
    return value;
  });
}

const LISTEN = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

/** `listen` in chains.yaml. */
export const Listen = parsed(parseListenAddress).meta({
  expected: "HOST:PORT such as 127.0.0.1:9855 or [::1]:9855",
  pattern: LISTEN.source,
  examples: ["127.0.0.1:9855", "0.0.0.0:9855", "[::1]:9855"],
});

/** The address of `HOST:PORT`, an IPv6 host in brackets; null for any other text. Port 0 means any free port. */
export function parseListenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain, port] = LISTEN.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isInvalid = host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(host));
  return isInvalid ? null : { host, port: Number(port) };
}

const CRON = "six fields, seconds first, such as */15 * * * * *";

/** A node-cron expression of six fields that fires at least once. */
export const CronSchedule = z.string().superRefine(checkCron).meta({ expected: CRON });

/** A node-cron expression, or `auto`: the fastest schedule that fits the budget. */
export const Schedule = z
  .string()
  .superRefine((text, context) => (text === "auto" ? undefined : checkCron(text, context)))
  .meta({ expected: `auto, or ${CRON}`, examples: ["auto", "*/15 * * * * *", "0 */30 * * * *"] });

function checkCron(text: string, context: z.core.$RefinementCtx<string>): void {
  const fields = text.trim().split(/\s+/);
  const refuse = (why: string): void => {
    context.addIssue({ code: "custom", message: `invalid schedule: ${why}`, params: { own: true } });
  };
  if (fields.length === 5) {
    refuse(`found five fields, expected ${CRON}; add the seconds: "0 ${fields.join(" ")}"`);
  } else if (fields.length !== 6) {
    context.addIssue({ code: "custom" });
  } else {
    const { valid, errors } = validateDetailed(text);
    const flaw = errors[0]?.message ?? `expected ${CRON}`;
    // node-cron calls a date such as February 31 impossible.
    if (valid ? firingsOf(text).perDay === 0 : flaw.includes("impossible")) {
      refuse("it never fires");
    } else if (!valid) {
      refuse(flaw.replace("is a invalid", "is not a valid"));
    }
  }
}
