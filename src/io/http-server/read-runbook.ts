import { readFileSync } from "node:fs";
import { hasCode } from "../system-error.ts";

/** Beside the program, in its package and in its image. */
const RUNBOOKS = new URL("../../../docs/runbooks/", import.meta.url);

/** Names of alerts, with or without the ending that the file has in the repository. */
const NAME = /^([A-Za-z]{1,64})(\.md)?$/;

/** What to do about an alert, in Markdown; null where there is no such alert, or the package came without its runbooks. */
export function readRunbook(file: string): string | null {
  const name = NAME.exec(file)?.[1];
  if (name === undefined) {
    return null;
  }
  try {
    return readFileSync(new URL(`${name}.md`, RUNBOOKS), "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return null;
    }
    throw error;
  }
}
