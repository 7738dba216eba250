import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Compares a text with a committed file, or writes the file if `UPDATE_GOLDENS=1`.
 *
 * @throws {Error} With the lines that differ, and the way to renew the file.
 */
export function expectGolden(file: string, text: string): void {
  // biome-ignore lint/style/noProcessEnv: who runs the tests decides, not the configuration of the product
  if (process.env["UPDATE_GOLDENS"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const expected = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (expected !== text) {
    throw new Error(
      `${file} has other lines; after a change that is meant, UPDATE_GOLDENS=1 renews it\n${diffOf(file, text)}`,
    );
  }
}

function diffOf(file: string, text: string): string {
  const compared = existsSync(file) ? file : "/dev/null";
  const args = ["diff", "--no-index", "--no-color", "--unified=1", compared, "-"];
  return spawnSync("git", args, { input: text, encoding: "utf8" }).stdout;
}
