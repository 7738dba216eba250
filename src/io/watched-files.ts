import { createHash } from "node:crypto";

/** A change must look the same at this many looks in a row, so that a file is not read while somebody writes it. */
const LOOKS_UNTIL_SETTLED = 2;
/** A file that is gone may be on its way back: some editors and tools delete it before they write it again. */
const LOOKS_UNTIL_GONE = 15;
const UNREADABLE = "unreadable";

/**
 * Reads text files and says when they have changed since. It compares contents: Kubernetes replaces a ConfigMap by moving
 * a symbolic link two levels above the file, of which `fs.watch` on the file reports nothing, and nor does it work on
 * network file systems; the time of a file changes where its content does not.
 */
export class WatchedFiles {
  readonly #readFile: (path: string) => string;
  /** What was read, by path: a digest of the content, or that there was none. */
  #read = new Map<string, string>();
  #lastLook = "";
  #looks = 0;

  /** @param readFile Reads a text file, or throws. */
  constructor(readFile: (path: string) => string) {
    this.#readFile = readFile;
  }

  /** Forgets the files read so far: those that are read from now on are watched. */
  startOver(): void {
    this.#read = new Map();
    this.#looks = 0;
  }

  /** Reads a file and watches it from now on. @throws If it cannot be read; it is watched nevertheless. */
  read(path: string): string {
    this.#read.set(path, UNREADABLE);
    const text = this.#readFile(path);
    this.#read.set(path, digest(text));
    return text;
  }

  /**
   * Whether a file has another content than was read and has settled: it was the same at the previous look. To be called
   * every few seconds.
   */
  haveChanged(): boolean {
    const found = [...this.#read.keys()].map((path) => [path, this.#digestOf(path)] as const);
    const changed = found.filter(([path, now]) => now !== this.#read.get(path));
    const look = JSON.stringify(changed);
    this.#looks = look === this.#lastLook ? this.#looks + 1 : 1;
    this.#lastLook = look;
    const isGone = changed.some(([, now]) => now === UNREADABLE);
    return changed.length > 0 && this.#looks >= (isGone ? LOOKS_UNTIL_GONE : LOOKS_UNTIL_SETTLED);
  }

  #digestOf(path: string): string {
    try {
      return digest(this.#readFile(path));
    } catch {
      return UNREADABLE;
    }
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
