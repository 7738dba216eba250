import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The note of a file to its readers: its first lines, which begin with `//`. */
const NOTE = /^(?:\/\/.*\n)+/;

/** The text of a file of cases without its note. */
export function readWithoutNote(file: string | URL): string {
  return readFileSync(file, "utf8").replace(NOTE, "").trimStart();
}

/**
 * Compares a text with a committed file, or writes the file if `UPDATE_GOLDENS=1`. The note of the file stays.
 *
 * @throws {Error} With the lines that differ, and the way to renew the file.
 */
export function expectGolden(file: string, text: string): void {
  const committed = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [note] = NOTE.exec(committed) ?? [];
  const expected = note === undefined ? text : `${note}\n${text}`;
  // biome-ignore lint/style/noProcessEnv: who runs the tests decides, not the configuration of the product
  if (process.env["UPDATE_GOLDENS"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, expected);
    return;
  }
  if (committed !== expected) {
    throw new Error(
      `${file} has other lines; after a change that is meant, UPDATE_GOLDENS=1 renews it\n${diffOf(file, expected)}`,
    );
  }
}

function diffOf(file: string, text: string): string {
  const compared = existsSync(file) ? file : "/dev/null";
  const args = ["diff", "--no-index", "--no-color", "--unified=1", compared, "-"];
  return spawnSync("git", args, { input: text, encoding: "utf8" }).stdout;
}
