import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeAtomically } from "../../../src/io/state/write-atomically.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "synclag-write-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("writeAtomically()", () => {
  it.each([
    { case: "no part", parts: [] },
    { case: "one part", parts: ["all of it"] },
    { case: "small parts", parts: Array.from({ length: 3 }, (_, index) => `part ${index}\n`) },
    { case: "parts for several chunks", parts: Array.from({ length: 50_000 }, (_, index) => `ü${index}`) },
    { case: "parts larger than a chunk", parts: ["a".repeat(100_000), "b", "c".repeat(100_000)] },
  ])("writes $case in their order", async ({ parts }) => {
    const path = join(folder, "file");

    await writeAtomically(path, parts.values());

    expect(await readFile(path, "utf8")).toBe(parts.join(""));
    expect(await readdir(folder)).toEqual(["file"]);
  });

  it("leaves the former file where a part cannot be made", async () => {
    const path = join(folder, "file");
    await writeFile(path, "former");
    function* breaking() {
      yield "x".repeat(100_000);
      throw new Error("no such part");
    }

    await expect(writeAtomically(path, breaking())).rejects.toThrow("no such part");

    expect(await readFile(path, "utf8")).toBe("former");
  });
});
