import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DaemonStory } from "../support/daemon-story.ts";
import { expectGolden } from "../support/golden.ts";
import { Story } from "../support/story.ts";

const REPLIES = "test/fixtures/stories";
const FLEETS = "test/fixtures/daemon-stories";

interface Teller {
  do(line: string): readonly string[] | Promise<readonly string[]>;
  numbers(): string;
}

describe("the reports for the replies in test/fixtures/stories", () => {
  it.each(readdirSync(REPLIES))("%s", async (name) => {
    await expectTold(`${REPLIES}/${name}`, () => ({ story: new Story() }));
  });
});

describe("what the daemon says of the fleets in test/fixtures/daemon-stories", () => {
  it.each(readdirSync(FLEETS).filter((name) => name.endsWith(".txt")))("%s", async (name) => {
    const file = `${FLEETS}/${name}`;
    const fleet = readFileSync(file.replace(/txt$/, "yaml"), "utf8");

    await expectTold(file, () => {
      const story = new DaemonStory(fleet);
      return { story, stop: () => story[Symbol.asyncDispose]() };
    });
  });
});

/**
 * Tells each story of a file, a title and lines, again: below each line stands what is said then, and at its end a digest of all
 * numbers after each `run`.
 */
async function expectTold(
  file: string,
  start: () => { readonly story: Teller; readonly stop?: () => Promise<void> },
): Promise<void> {
  const told: string[] = [];
  for (const text of readFileSync(file, "utf8").trimEnd().split("\n\n")) {
    const { story, stop } = start();
    try {
      const said: string[] = [];
      const numbers = createHash("sha256");
      // What has been written to a file until then depends on the disk.
      const isExact = !text.includes("\nrestart written");
      for (const line of text.split("\n").filter((one) => !one.startsWith("=> "))) {
        said.push(line, ...(line.startsWith("#") ? [] : await story.do(line)).map((one) => `=> ${one}`));
        numbers.update(isExact && line.startsWith("run ") ? story.numbers() : "");
      }
      expect(said.filter((one) => one.startsWith("=> "))).not.toEqual([]);
      told.push([...said, `=> numbers ${numbers.digest("hex").slice(0, 8)}`].join("\n"));
    } finally {
      await stop?.();
    }
  }
  expectGolden(file, `${told.join("\n\n")}\n`);
}
