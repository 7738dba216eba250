import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Story } from "../support/story.ts";
import { expectTold } from "../support/tell.ts";

const REPLIES = "test/fixtures/stories";

describe("the reports for the replies in test/fixtures/stories", () => {
  it.each(readdirSync(REPLIES))("%s", async (name) => {
    await expectTold(`${REPLIES}/${name}`, () => new Story());
  });
});

describe("test/STORIES.md", () => {
  const code = readFileSync("test/STORIES.md", "utf8").match(/`[^`]+`/g) ?? [];
  const documented = new Set(code.flatMap((one) => one.match(/[\w-]+/g) ?? []));

  it.each(["daemon-stories", "cli", "reports", "hand-over"])("has each verb of %s", (folder) => {
    expect(verbsIn(folder).filter((verb) => !documented.has(verb))).toEqual([]);
  });
});

/** The first word of each line; `Base:` begins a report of a chain, and `|` the text of a file. */
function verbsIn(folder: string): readonly string[] {
  const files = readdirSync(`test/fixtures/${folder}`).map((name) => `test/fixtures/${folder}/${name}`);
  const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const verbs = lines.flatMap((line) => /^(?!=>)([\w-]+)(?= |$)/.exec(line)?.[1] ?? []);
  return [...new Set(verbs)];
}
