import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeAtomically } from "../../../src/io/state/kept-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("writeAtomically()", () => {
  it.each([
    { case: "no part", parts: [] },
    { case: "small parts", parts: Array.from({ length: 3 }, (_, index) => `part ${index}\n`) },
    { case: "parts for several chunks", parts: Array.from({ length: 50_000 }, (_, index) => `ü${index}`) },
    { case: "parts larger than a chunk", parts: ["a".repeat(100_000), "b", "c".repeat(100_000)] },
  ])("replaces the former file by $case in their order", async ({ parts }) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "file");
    await writeFile(path, "former".repeat(100_000));

    await writeAtomically(path, parts.values());

    expect(await readFile(path, "utf8")).toBe(parts.join(""));
    expect(await readdir(folder.path)).toEqual(["file"]);
  });

  it("keeps the former file, and nothing else, if a part cannot be rendered", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "file");
    await writeFile(path, "former");
    function* breaking() {
      yield "x".repeat(100_000);
      throw new Error("no such part");
    }

    await expect(writeAtomically(path, breaking())).rejects.toThrow("no such part");

    expect(await readFile(path, "utf8")).toBe("former");
    expect(await readdir(folder.path)).toEqual(["file"]);
  });
});
