import { createHash } from "node:crypto";

/** A Lua script that the store runs as one step. */
export interface StoreScript {
  readonly lua: string;
  /** By which the server finds it once it has it. */
  readonly sha: string;
}

/** Makes a script of its text. Its keys are `KEYS`, its arguments `ARGV`; it reads the time by `TIME`. */
export function storeScript(lua: string): StoreScript {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}
