import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { expectGolden } from "./golden.ts";

interface Teller extends Partial<AsyncDisposable> {
  do(line: string): readonly string[] | Promise<readonly string[]>;
  readonly numbers?: () => string;
}

/**
 * Tells each story of a file, a title and lines, again: below each line stands what is said then, and at its end, where there are
 * numbers, a digest of all of them after each `run`.
 */
export async function expectTold(file: string, start: () => Teller | Promise<Teller>): Promise<void> {
  const told: string[] = [];
  for (const text of readFileSync(file, "utf8").trimEnd().split("\n\n")) {
    const story = await start();
    try {
      const said: string[] = [];
      const numbers = createHash("sha256");
      // What has been written to a file until then depends on the disk.
      const isExact = !text.includes("\nrestart written");
      for (const line of text.split("\n").filter((one) => !one.startsWith("=> "))) {
        said.push(line, ...(line.startsWith("#") ? [] : await story.do(line)).map((one) => `=> ${one}`));
        numbers.update((isExact && line.startsWith("run ") && story.numbers?.()) || "");
      }
      expect(said.filter((one) => one.startsWith("=> "))).not.toEqual([]);
      const end = story.numbers ? [`=> numbers ${numbers.digest("hex").slice(0, 8)}`] : [];
      told.push([...said, ...end].join("\n"));
    } finally {
      await story[Symbol.asyncDispose]?.();
    }
  }
  expectGolden(file, `${told.join("\n\n")}\n`);
}

/** What a verb of a story does. @throws {RangeError} If there is no such verb. */
export function verbIn<Verb>(verbs: Readonly<Record<string, Verb>>, verb: string): Verb {
  const found = verbs[verb];
  if (found === undefined) {
    throw new RangeError(`Cannot do ${verb}`);
  }
  return found;
}
