const NEWLINE = 10;

/**
 * Of a text that arrives in chunks, keeps the lines that begin with one of some names, and the first line, which shows what kind of
 * text it is. All other lines are dropped as they arrive.
 */
export class LineFilter {
  readonly #names: readonly Buffer[];
  #isAtStart = true;
  /** The parts of the current, incomplete line. */
  #parts: Buffer[] = [];
  #pendingBytes = 0;

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name));
  }

  /** The length of the current, incomplete line. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** The lines to keep that end in this chunk. */
  take(chunk: Buffer): readonly Buffer[] {
    const kept: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#completed(chunk.subarray(start, end + 1));
      if (this.#isKept(line)) {
        // A copy: a part of a chunk would keep the whole chunk in memory.
        kept.push(Buffer.from(line));
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#parts.push(chunk.subarray(start));
      this.#pendingBytes += chunk.length - start;
    }
    return kept;
  }

  /** The last line, if it is to be kept: it may lack its line break. */
  end(): readonly Buffer[] {
    const line = this.#completed(Buffer.alloc(0));
    return this.#isKept(line) ? [line] : [];
  }

  #completed(lastPart: Buffer): Buffer {
    if (this.#parts.length === 0) {
      return lastPart;
    }
    const line = Buffer.concat([...this.#parts, lastPart]);
    this.#parts = [];
    this.#pendingBytes = 0;
    return line;
  }

  #isKept(line: Buffer): boolean {
    const isBlank = line.length < 2;
    if (this.#isAtStart && !isBlank) {
      this.#isAtStart = false;
      return true;
    }
    // Most lines differ in their first byte.
    return this.#names.some((name) => line[0] === name[0] && line.subarray(0, name.length).equals(name));
  }
}
