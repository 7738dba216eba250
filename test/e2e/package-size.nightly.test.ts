import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { runProgram } from "./support/program.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

afterAll(undoAll);

describe("the npm package", () => {
  it("is about as large as README.md says, with what the registry has today", async () => {
    const folder = await temporaryFolder("package-size");
    const run = async (command: string, args: readonly string[], cwd = folder): Promise<string> => {
      const { code, stdout, stderr } = await runProgram({ command, args, cwd });
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      return stdout;
    };
    const [packed] = JSON.parse(await run("npm", ["pack", "--json", "--pack-destination", folder], ROOT));
    await writeFile(join(folder, "package.json"), "{}");
    const install = ["install", "--omit=dev", "--no-audit", "--no-fund", "--ignore-scripts"];
    await run("npm", [...install, `./${packed.filename}`]);
    const size = await run("du", ["-s", "--apparent-size", "--block-size=1000000", "node_modules"]);
    const list = await run("npm", ["ls", "--all", "--parseable"]);

    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const [, packedMb, installedMb, dependencies] =
      /npm package of ([\d.]+) MB \(`npm pack --dry-run`\), (\d+) MB installed with its (\d+) dependencies/.exec(
        readme,
      ) ?? [];
    expect(Math.abs(packed.size / 1e6 - Number(packedMb))).toBeLessThan(0.08);
    expect(Math.abs(Number.parseInt(size, 10) - Number(installedMb))).toBeLessThan(4);
    // Without the folder itself and synclag.
    expect(Math.abs(list.trim().split("\n").length - 2 - Number(dependencies))).toBeLessThan(5);
  });
});
