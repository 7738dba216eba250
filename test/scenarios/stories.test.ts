import { readdirSync } from "node:fs";
import { describe, it } from "vitest";
import { Story } from "../support/story.ts";
import { expectTold } from "../support/tell.ts";

const REPLIES = "test/fixtures/stories";

describe("the reports for the replies in test/fixtures/stories", () => {
  it.each(readdirSync(REPLIES))("%s", async (name) => {
    await expectTold(`${REPLIES}/${name}`, () => new Story());
  });
});
