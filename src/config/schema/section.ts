import { z } from "zod";
import { expects } from "./messages.ts";

/** A map that refuses unknown keys. `wanted` says what to write if it is something else, or missing. */
export function section<Shape extends z.core.$ZodShape>(
  shape: Shape,
  wanted: string,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, expects(wanted));
}

const NAME = expects("a name of lower-case letters, digits and dashes, starting with a letter or digit");

/** A name that becomes a metric label and a part of a URL. */
export const Name = z.string(NAME).regex(/^[a-z0-9][a-z0-9-]*$/, NAME);
