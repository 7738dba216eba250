import { z } from "zod";

/** A name that becomes a metric label and a part of a URL. */
export const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/)
  .meta({ expected: "a name of lower-case letters, digits and dashes, starting with a letter or digit" });
export const Flag = z.boolean().meta({ expected: "true or false" });
export const Url = text("an http:// or https:// URL").meta({ secret: true });
export const Link = z.string().nullable().meta({ expected: "a URL, or null for none" });
export const Headers = z
  .record(z.string(), text("a string; put numbers in quotes").meta({ secret: true }))
  .meta({ expected: "a map of header names and values", secret: true });
export const BudgetName = z.string().nullable().meta({ expected: "the name of a budget, or null for none" });
export const Provider = text("a name").describe(
  "Sources of one provider count as one (default: the host of the URL).",
);

export function text(expected: string, max = Number.POSITIVE_INFINITY) {
  const string = z.string().min(1);
  return (max === Number.POSITIVE_INFINITY ? string : string.max(max)).meta({ expected });
}

export function count(least: number, most = Number.MAX_SAFE_INTEGER) {
  const expected = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`;
  return z.int().min(least).max(most).meta({ expected });
}

export function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names).meta({ expected: names.join(", ").replace(/, (?=[^,]*$)/, " or ") });
}

export function isNotEmpty(map: object): boolean {
  return Object.keys(map).length > 0;
}
