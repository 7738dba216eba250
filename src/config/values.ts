import { z } from "zod";

// The kinds of values in the schema, each with the words of its error messages.

export function text(expected: string, max?: number) {
  const string = z.string().min(1);
  return (max === undefined ? string : string.max(max)).meta({ expected });
}

export function pattern(regex: RegExp, expected: string) {
  return z.string().regex(regex).meta({ expected });
}

/** How error messages describe a link. */
export const LINK = "an http:// or https:// URL without user, ? and #";

/** A URL for browsers, to which paths are added. It is shown to every reader, so it has no user. No slash is at its end. */
export function webLink(expected: string) {
  return pattern(/^https?:\/\/[^\s/?#@]+(?:\/[^\s'"?#]*)?$/i, expected).transform((url) =>
    url.replace(/\/+$/, ""),
  );
}

export function count(least: number, most = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`;
  return z.int().min(least).max(most).meta({ expected });
}

export function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names).meta({ expected: names.join(", ").replace(/, (?=[^,]*$)/, " or ") });
}

/** A map with these keys. `apart`: keys that are checked alone, so that a broken one does not hide mistakes of the others. */
export function map<Shape extends z.core.$ZodShape>(
  expected: string,
  shape: Shape,
  apart: readonly (keyof Shape & string)[] = [],
) {
  return z.strictObject(shape).meta({ expected, apart });
}

/** A map whose keys the user chooses. */
export function mapOf<Value extends z.ZodType>(value: Value, expected: string, key = z.string()) {
  return z.record(key, value).meta({ expected });
}

export function listOf<Item extends z.ZodType>(item: Item, expected: string) {
  return z.array(item).meta({ expected });
}

/** A key that may be absent. */
export function optional<S extends z.ZodType>(schema: S, description: string) {
  return schema.exactOptional().describe(description);
}

export function isNotEmpty(entries: object): boolean {
  return Object.keys(entries).length > 0;
}

/** A name that becomes a metric label and a part of a URL. */
export const Name = pattern(
  /^[a-z0-9][a-z0-9-]*$/,
  "a name of lower-case letters, digits and dashes, starting with a letter or digit",
);

export const Slug = text("the slug of a chain");

export const Url = text("an http:// or https:// URL").meta({ secret: true });
