import { z } from "zod";
import { expects, show } from "./messages.ts";

const DURATION = "a duration such as 250ms, 10s, 5m or 1h";
const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Node's timers overflow beyond 2^31 - 1 ms, and fire at once. */
const MAX_MS = 2 ** 31 - 1;

/** A length of time in chains.yaml, in milliseconds once read. */
export const Duration = z
  .string(expects(DURATION))
  .transform((text, context) => {
    const ms = parseDuration(text);
    if (ms === null) {
      context.addIssue({
        code: "custom",
        message: `Cannot use ${show(text)}: expected ${DURATION}, at most 24 days`,
      });
      return z.NEVER;
    }
    return ms;
  })
  .meta({ pattern: PATTERN.source, examples: ["250ms", "10s", "5m", "1h"] });

/** Milliseconds of `250ms`, `0.25s`, `10s`, `5m` or `1h`; null for any other text, for zero and for more than 24 days. */
export function parseDuration(text: string): number | null {
  const [, digits, unit] = PATTERN.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    return null;
  }
  const ms = Math.round(Number(digits) * (UNIT_MS[unit] ?? Number.NaN));
  return ms >= 1 && ms <= MAX_MS ? ms : null;
}

/** A duration as chains.yaml writes it, in the largest unit that needs no fraction. */
export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(UNIT_MS).findLast(([, unitMs]) => ms % unitMs === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
