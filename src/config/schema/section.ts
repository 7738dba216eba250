import { z } from "zod";
import { unusable } from "./messages.ts";

/** A map of chains.yaml that knows all its keys. */
export function section<Shape extends z.core.$ZodShape>(
  shape: Shape,
  wanted: string,
): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    // The message of an unknown key carries the known ones, for `schema-problems.ts` to look for a near miss.
    error: ({ code, input }) => (code === "unrecognized_keys" ? known.join(" ") : unusable(input, wanted)),
  });
}
