import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectGolden } from "../../support/golden.ts";
import { Story } from "../../support/story.ts";

const FOLDER = "test/fixtures/stories";

describe("the reports for the replies in test/fixtures/stories", () => {
  it.each(readdirSync(FOLDER))("%s", (name) => {
    const file = `${FOLDER}/${name}`;
    const stories = readFileSync(file, "utf8").trimEnd().split("\n\n");
    const told = stories.map((text) => {
      const [title = "", ...lines] = text.split("\n");
      const story = new Story();
      const steps = lines.filter((line) => !line.startsWith("=> "));
      return [title, ...steps.flatMap((step) => [step, ...story.do(step).map((said) => `=> ${said}`)])];
    });

    expect(told.every((lines) => lines.some((line) => line.startsWith("=> ")))).toBe(true);
    expectGolden(file, `${told.map((lines) => lines.join("\n")).join("\n\n")}\n`);
  });
});
