import { configJsonSchema } from "../config/schema/json-schema.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";

/** Prints the JSON Schema of chains.yaml, with which editors check and complete it. */
export function configSchema({ out }: Pick<CommandWorld, "out">): number {
  out(JSON.stringify(configJsonSchema(), null, 2));
  return EXIT.ok;
}
