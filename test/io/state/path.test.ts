import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lockPathOf } from "../../../src/io/state/lock.ts";
import { resolveStatePath } from "../../../src/io/state/path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("resolveStatePath()", () => {
  it.each([
    { target: "that exists", text: '{"version":2,"savedAtMs":0}' },
    { target: "that is yet to be written", text: null },
  ])("has one lock for a link and a target $target", async ({ text }) => {
    await using folder = await temporaryFolder();
    const [file, link] = [join(folder.path, "state.json"), join(folder.path, "link.json")];
    if (text !== null) {
      writeFileSync(file, text);
    }
    symlinkSync("state.json", link);

    expect(lockPathOf(await resolveStatePath(link))).toBe(lockPathOf(await resolveStatePath(file)));
  });
});
