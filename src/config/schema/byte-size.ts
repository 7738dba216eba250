import { z } from "zod";
import { expects, show } from "./messages.ts";

const BYTE_SIZE = "a size such as 512KiB or 1MiB";
const PATTERN = /^(\d+(?:\.\d+)?)(B|KiB|MiB|GiB)$/;
const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** An answer larger than this would be held in memory whole. */
const MAX_BYTES = 2 ** 30;

/** A size in chains.yaml, in bytes once read. */
export const ByteSize = z
  .string(expects(BYTE_SIZE))
  .transform((text, context) => {
    const bytes = parseByteSize(text);
    if (bytes === null) {
      context.addIssue({
        code: "custom",
        message: `Cannot use ${show(text)}: expected ${BYTE_SIZE}, at most 1GiB`,
      });
      return z.NEVER;
    }
    return bytes;
  })
  .meta({ pattern: PATTERN.source, examples: ["512KiB", "1MiB"] });

/** Bytes of `512KiB` or `1MiB`; null for any other text, for zero and for more than 1 GiB. */
export function parseByteSize(text: string): number | null {
  const [, digits, unit] = PATTERN.exec(text) ?? [];
  if (digits === undefined || unit === undefined) {
    return null;
  }
  const bytes = Math.round(Number(digits) * (UNIT_BYTES[unit] ?? Number.NaN));
  return bytes >= 1 && bytes <= MAX_BYTES ? bytes : null;
}
