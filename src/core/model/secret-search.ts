import type { Layer } from "./encodings.ts";
import { CUT_MARK } from "./text.ts";

/** Redacting shorter values would make every message unreadable and protect nothing. */
export const MIN_SECRET_LENGTH = 4;

/** Where a secret is in a text. */
export interface Found {
  readonly from: number;
  readonly to: number;
}

/** A state of the search: the longest suffix of the text read so far that is a prefix of a spelling. */
interface Node {
  readonly length: number;
  readonly next: Map<string, Node>;
  /** The state of the next shorter suffix that is a prefix of a spelling; null for the root. */
  shorter: Node | null;
  /** The length of the longest spelling that is a suffix; 0: none. */
  found: number;
}

/**
 * Finds all `spellings` of secrets at once (Aho and Corasick, "Efficient string matching", 1975). Texts are compared without
 * case; control characters, spaces and pluses in a row are one space.
 */
export function createSearch(spellings: readonly string[]): (layer: Layer) => readonly Found[] {
  const root = automatonOf(
    [...new Set(spellings.map(comparable))].filter(({ length }) => length >= MIN_SECRET_LENGTH),
  );
  return ({ text, from, to }) => {
    const found: Found[] = [];
    /** Where each character that was compared begins. */
    const starts: number[] = [];
    let node = root;
    let isInSpace = false;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charAt(at);
      // The part of a secret that was read so far: all that is left of it if the text was cut here.
      const partial = { from: startOf(starts, node.length, from(at)), to: from(at) };
      if (unit === CUT_MARK && partial.to - partial.from >= MIN_SECRET_LENGTH) {
        found.push(partial);
      }
      const character = comparableUnit(unit);
      if (character === " " && isInSpace) {
        continue;
      }
      isInSpace = character === " ";
      starts.push(from(at));
      node = follow(node, character) ?? root;
      if (node.found > 0) {
        found.push({ from: startOf(starts, node.found, from(at)), to: to(at) });
      }
    }
    return found;
  };
}

/** Where the last `length` compared characters begin; `next` if `length` is 0. */
function startOf(starts: readonly number[], length: number, next: number): number {
  return starts[starts.length - length] ?? next;
}

function automatonOf(spellings: readonly string[]): Node {
  const root: Node = { length: 0, next: new Map(), shorter: null, found: 0 };
  for (const spelling of spellings) {
    let node = root;
    for (const unit of spelling.split("")) {
      const next = node.next.get(unit) ?? {
        length: node.length + 1,
        next: new Map(),
        shorter: root,
        found: 0,
      };
      node.next.set(unit, next);
      node = next;
    }
    node.found = spelling.length;
  }
  // Breadth first, so that shorter nodes are complete.
  const queue = [root];
  for (const node of queue) {
    for (const [unit, next] of node.next) {
      next.shorter = (node.shorter && follow(node.shorter, unit)) ?? root;
      next.found = Math.max(next.found, next.shorter.found);
      queue.push(next);
    }
  }
  return root;
}

/** The state after one more character; null if no spelling begins with any suffix of the text. */
function follow(node: Node, unit: string): Node | null {
  let from: Node | null = node;
  while (from !== null) {
    const next = from.next.get(unit);
    if (next !== undefined) {
      return next;
    }
    from = from.shorter;
  }
  return null;
}

function comparable(text: string): string {
  return text.split("").map(comparableUnit).join("").replace(/ +/g, " ");
}

function comparableUnit(unit: string): string {
  return COMPARABLE.get(unit) ?? readComparable(unit);
}

function readComparable(unit: string): string {
  if (/[+\p{Cc}\p{Cf}\s]/u.test(unit)) {
    return " ";
  }
  const lower = unit.toLowerCase();
  return lower.length === 1 ? lower : unit;
}

const COMPARABLE: ReadonlyMap<string, string> = new Map(
  Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).map((unit) => [
    unit,
    readComparable(unit),
  ]),
);
