import { createHash } from "node:crypto";

/** A changed file counts once it looks the same this number of times in a row: until then it may still be written. */
const LOOKS_UNTIL_SETTLED = 2;
/** Some tools delete a file before they write it again, so a missing file counts only after this number of looks. */
const LOOKS_UNTIL_GONE = 15;
const UNREADABLE = "unreadable";

interface Files {
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
  /** The names in a folder that match, sorted, or throws. */
  readonly listFiles: (folder: string, pattern: RegExp) => readonly string[];
}

/**
 * Reads text files and says when they have changed since. It compares contents, because `fs.watch` misses changes: on network
 * file systems, and when Kubernetes replaces a ConfigMap by moving a symbolic link two levels above the file. The time of a
 * file is not enough either: it may change without the content.
 */
export class WatchedFiles {
  readonly #files: Files;
  /** How to read each path again, and a digest of the content that was read, by path. */
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

  /** Whether a file has new content that no longer changes. Each call is a look; call it every few seconds. */
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
