import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const flags = /^#!\/usr\/bin\/env -S node (.*)\n/.exec(root("src/main.ts"))?.[1]?.split(" ") ?? [];

describe("the flags of Node in the first line of main.ts", () => {
  it("equal those of the image", () => {
    const [, entrypoint = ""] = /^ENTRYPOINT (.*)$/m.exec(root("Dockerfile")) ?? [];

    expect(flags).not.toEqual([]);
    expect(JSON.parse(entrypoint)).toEqual(["node", ...flags, "/app/dist/main.js"]);
  });

  it("are known to this Node", () => {
    const told = execFileSync(process.execPath, [...flags, "-p", "process.execArgv.join()"], {
      encoding: "utf8",
    });

    expect(told).toContain(flags.join());
  });
});
