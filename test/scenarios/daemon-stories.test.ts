import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "vitest";
import { DaemonStory } from "../support/daemon-story.ts";
import { expectTold } from "../support/tell.ts";

const FLEETS = "test/fixtures/daemon-stories";

describe("what the daemon says of the fleets in test/fixtures/daemon-stories", () => {
  it.each(readdirSync(FLEETS).filter((name) => name.endsWith(".txt")))("%s", async (name) => {
    const fleet = readFileSync(`${FLEETS}/${name.replace(/txt$/, "yaml")}`, "utf8");

    await expectTold(`${FLEETS}/${name}`, () => new DaemonStory(fleet));
  });
});
