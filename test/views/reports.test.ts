import { readdirSync } from "node:fs";
import { describe, it } from "vitest";
import { expectTold } from "../support/tell.ts";
import { ReportStory } from "./report-story.ts";

const REPORTS = "test/fixtures/reports";

describe("what the views say of the reports in test/fixtures/reports", () => {
  it.each(readdirSync(REPORTS))("%s", async (name) => {
    await expectTold(`${REPORTS}/${name}`, () => new ReportStory());
  });
});
