import { readdirSync, readFileSync } from "node:fs";
import { hasCode } from "../../system-error.ts";

/** The documents that are served as pages, as Markdown. */
export interface Documents {
  readonly statuses: string;
  /** The runbook of an alert, with or without `.md` at the end of its name; null where there is none. */
  readonly runbook: (file: string) => string | null;
}

/** Beside the program, in its package and in its image. */
const DOCS = new URL("../../../../docs/", import.meta.url);

/** Reads them all, once: a server that has run out of file descriptors can still serve them. */
export function readDocuments(): Documents {
  const runbooks = new Map(
    listRunbooks().map((name) => [
      name.replace(/\.md$/, ""),
      readFileSync(new URL(`runbooks/${name}`, DOCS), "utf8"),
    ]),
  );
  return {
    statuses: readFileSync(new URL("statuses.md", DOCS), "utf8"),
    runbook: (file) => runbooks.get(file.replace(/\.md$/, "")) ?? null,
  };
}

/** Empty where the program was packaged without its runbooks. */
function listRunbooks(): readonly string[] {
  try {
    return readdirSync(new URL("runbooks/", DOCS)).filter((name) => name.endsWith(".md"));
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return [];
    }
    throw error;
  }
}
