import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const PROGRAM = resolve("dist/main.js");

/** What Node is given to run the built program as its first line and the image do; or with other options of Node. */
export function synclagArgs(
  args: readonly string[],
  nodeOptions = nodeOptionsOfCommand(),
): readonly string[] {
  return [...nodeOptions, PROGRAM, ...args];
}

/** Of its first line. */
export function nodeOptionsOfCommand(): readonly string[] {
  const [, options] = /^#!\/usr\/bin\/env -S node (.*)\n/.exec(readFileSync(PROGRAM, "utf8")) ?? [];
  return options?.split(" ") ?? [];
}
