import { createHash } from "node:crypto";

/** A change must be the same at this number of looks in a row, so that a file is not read while it is written. */
const LOOKS_UNTIL_SETTLED = 2;
/** Some editors and tools delete a file before they write it again: a file is gone only after this number of looks. */
const LOOKS_UNTIL_GONE = 15;
const UNREADABLE = "unreadable";

interface Files {
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
  /** The names in a folder that match, sorted, or throws. */
  readonly listFiles: (folder: string, pattern: RegExp) => readonly string[];
}

/**
 * Reads text files and says when they have changed since. It compares contents: Kubernetes replaces a ConfigMap by moving a
 * symbolic link two levels above the file, which `fs.watch` on the file does not report; it does not work on network file
 * systems either, and the time of a file may change without its content.
 */
export class WatchedFiles {
  readonly #files: Files;
  /** By the path: how to read it, and a digest of what was read. */
  #watched = new Map<string, { readonly look: () => unknown; readonly held: string }>();
  #lastLook = "";
  #looks = 0;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Forgets the files read so far; only files read from now on are watched. */
  startOver(): void {
    this.#watched = new Map();
    this.#looks = 0;
  }

  /** Reads a file and watches it from now on. @throws If it cannot be read; it is watched nevertheless. */
  read(path: string): string {
    return this.#watch(path, () => this.#files.readFile(path));
  }

  /** Lists the names in a folder that match, and watches from now on whether they change. @throws If it cannot be read. */
  list(folder: string, pattern: RegExp): readonly string[] {
    const look = () => this.#files.listFiles(folder, pattern);
    return this.#watch(`${folder}/ ${pattern.source}`, look);
  }

  /** Whether a file has new content that has settled: the same as at the previous look. To be called every few seconds. */
  haveChanged(): boolean {
    const changed = [...this.#watched]
      .map(([path, { held, look }]) => ({ path, held, now: digestOf(look) }))
      .filter(({ held, now }) => now !== held);
    const look = JSON.stringify(changed);
    this.#looks = look === this.#lastLook ? this.#looks + 1 : 1;
    this.#lastLook = look;
    const isGone = changed.some(({ now }) => now === UNREADABLE);
    return changed.length > 0 && this.#looks >= (isGone ? LOOKS_UNTIL_GONE : LOOKS_UNTIL_SETTLED);
  }

  #watch<Content>(path: string, look: () => Content): Content {
    this.#watched.set(path, { look, held: UNREADABLE });
    const content = look();
    this.#watched.set(path, { look, held: digest(content) });
    return content;
  }
}

function digestOf(look: () => unknown): string {
  try {
    return digest(look());
  } catch {
    return UNREADABLE;
  }
}

function digest(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("base64");
}
