import { z } from "zod";
import { ConfigFile } from "./config-file.ts";

/** The JSON Schema of chains.yaml, as the user writes it: durations and sizes are texts, what has a default may be left out. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    ...z.toJSONSchema(ConfigFile, { io: "input" }),
    title: "chains.yaml of Synclag",
  };
}
