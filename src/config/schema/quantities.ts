import { z } from "zod";
import { describeValue, expects } from "./messages.ts";

/** A number with a unit, such as `10s`. Values are in the base unit. */
interface Quantity {
  readonly wanted: string;
  readonly limit: string;
  readonly pattern: RegExp;
  readonly units: Readonly<Record<string, number>>;
  readonly max: number;
  readonly examples: readonly string[];
}

const DURATION: Quantity = {
  wanted: "a duration such as 250ms, 10s, 5m or 1h",
  limit: "at most 24 days",
  pattern: /^(\d+(?:\.\d+)?)(ms|s|m|h)$/,
  units: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
  // Node's timers overflow beyond this and fire at once.
  max: 2 ** 31 - 1,
  examples: ["250ms", "10s", "5m", "1h"],
};

const BYTE_SIZE: Quantity = {
  wanted: "a size such as 512KiB or 1MiB",
  limit: "at most 1GiB",
  pattern: /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/,
  units: { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  // A response of this size is held in memory.
  max: 2 ** 30,
  examples: ["512KiB", "1MiB"],
};

/** A duration in chains.yaml; milliseconds once parsed. */
export const Duration = quantitySchema(DURATION);

/** A size in chains.yaml; bytes once parsed. */
export const ByteSize = quantitySchema(BYTE_SIZE);

/** Milliseconds of `250ms`, `0.25s`, `10s`, `5m` or `1h`; null for any other text, for zero and for more than 24 days. */
export function parseDuration(text: string): number | null {
  return parseQuantity(text, DURATION);
}

/** A duration as chains.yaml writes it, in the largest unit that needs no fraction. */
export function durationLiteral(ms: number): string {
  const [unit, size] = Object.entries(DURATION.units).findLast(([, unitMs]) => ms % unitMs === 0) ?? [
    "ms",
    1,
  ];
  return `${ms / size}${unit}`;
}

function quantitySchema(quantity: Quantity) {
  const { wanted, limit, pattern, examples } = quantity;
  return z
    .string(expects(wanted))
    .transform((text, context) => {
      const value = parseQuantity(text, quantity);
      if (value === null) {
        const message = `Cannot use ${describeValue(text)}: expected ${wanted}, ${limit}`;
        context.addIssue({ code: "custom", message });
        return z.NEVER;
      }
      return value;
    })
    .meta({ pattern: pattern.source, examples: [...examples] });
}

function parseQuantity(text: string, { pattern, units, max }: Quantity): number | null {
  const [, digits, unit] = pattern.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    return null;
  }
  const value = Math.round(Number(digits) * (units[unit] ?? Number.NaN));
  return value >= 1 && value <= max ? value : null;
}
