import { expect } from "vitest";
import { expectGolden, readWithoutNote } from "./golden.ts";

interface Teller extends Partial<AsyncDisposable> {
  do(line: string): readonly string[] | Promise<readonly string[]>;
  /** The state after the last line. */
  readonly ending?: () => readonly string[];
}

/** Plays each story of a file again: below each line it writes what is said then, and below the last one the state at the end. */
export async function expectTold(file: string, start: () => Teller | Promise<Teller>): Promise<void> {
  const told: string[] = [];
  for (const text of readWithoutNote(file).trimEnd().split("\n\n")) {
    const story = await start();
    try {
      const said: string[] = [];
      for (const line of text.split("\n").filter((one) => !one.startsWith("=> "))) {
        said.push(line, ...(line.startsWith("#") ? [] : await story.do(line)).map((one) => `=> ${one}`));
      }
      expect(said.filter((one) => one.startsWith("=> "))).not.toEqual([]);
      told.push([...said, ...(story.ending?.() ?? []).map((one) => `=> ${one}`)].join("\n"));
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
    throw new RangeError(`Cannot do ${verb}: test/STORIES.md has the verbs`);
  }
  return found;
}
