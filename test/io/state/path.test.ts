import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveStatePath } from "../../../src/io/state/path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("resolveStatePath()", () => {
  it.each([
    { target: "that exists", text: '{"version":2,"savedAtMs":0}' },
    { target: "that is yet to be written", text: null },
  ])(
    "returns the target $target of a link, so that the link stays and both paths have one lock",
    async ({ text }) => {
      await using folder = await temporaryFolder();
      const [file, link] = [join(folder.path, "state.json"), join(folder.path, "link.json")];
      if (text !== null) {
        writeFileSync(file, text);
      }
      symlinkSync("state.json", link);

      expect([await resolveStatePath(link), await resolveStatePath(file)]).toEqual([file, file]);
    },
  );
});
