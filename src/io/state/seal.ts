import { crc32 } from "node:zlib";
import { parseJson } from "../../core/model/text.ts";

/**
 * Raise this number with every change of `ChainState`, `Incident`, `NotifiedIncident`, `Counters` or `SavedHistory`: values of
 * another shape are not read. Values are not validated, so that no schema repeats the types of the core.
 */
export const STATE_SHAPE = 22;

/** The JSON of a value, with a checksum that includes the shape. */
export function seal(value: unknown): string {
  const text = JSON.stringify(value);
  return `[${crc32(text, STATE_SHAPE)},${text}]`;
}

/** The sealed value, of the type that `seal` was given; undefined if the text was changed, or has another shape. */
export function unseal(text: string): unknown {
  const json = parseJson(text);
  if (!Array.isArray(json)) {
    return undefined;
  }
  const parts: readonly unknown[] = json;
  const [check, value] = parts;
  return value !== undefined && check === crc32(JSON.stringify(value), STATE_SHAPE) ? value : undefined;
}
