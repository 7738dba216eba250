import { crc32 } from "node:zlib";
import { parseJson } from "../../core/model/text.ts";

/**
 * Raised with every change of what `ChainState`, `Incident` or `Counters` hold: what was written in another shape is not read.
 * Within one shape a value is used as it was written, so that nothing restates the types of the core.
 */
export const STATE_SHAPE = 9;

/** The JSON of a value, with a checksum of it. */
export function seal(value: unknown): string {
  const text = JSON.stringify(value);
  return `[${crc32(text)},${text}]`;
}

/** The value that was sealed, which has the type of what was given to `seal`; undefined where anything of it was changed since. */
export function unseal(json: unknown): unknown {
  if (!Array.isArray(json)) {
    return undefined;
  }
  const parts: readonly unknown[] = json;
  const [check, value] = parts;
  return value !== undefined && check === crc32(JSON.stringify(value)) ? value : undefined;
}

/** As `unseal`, of text. */
export function unsealText(text: string): unknown {
  return unseal(parseJson(text));
}
