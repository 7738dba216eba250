import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from "yaml";
import { memoize } from "../../core/model/memoize.ts";
import type { Path } from "./config-error.ts";

/** The node that each alias of a document refers to. */
export type Anchors = ReadonlyMap<Alias, Node>;

/** The result of following a path into a document. */
export interface Lookup {
  readonly node: Node | null;
  /** The key of the node, if it is in a map. */
  readonly key: Node | null;
  /** How many steps of the path exist in the file. */
  readonly steps: number;
}

/** Resolves all aliases in one pass: the library's own lookup walks the whole document for each. */
export function readAnchors(document: Document): Anchors {
  const latest = new Map<string, Node>();
  const anchors = new Map<Alias, Node>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = latest.get(node.source);
        if (target !== undefined) {
          anchors.set(node, target);
        }
      } else if (node.anchor !== undefined) {
        latest.set(node.anchor, node);
      }
    },
  });
  return anchors;
}

/** Follows a path, through aliases, as far as it exists. */
export function findNode(contents: Node | null, path: Path, anchors: Anchors): Lookup {
  let found: Lookup = { node: contents, key: null, steps: 0 };
  for (const step of path) {
    const parent = isAlias(found.node) ? (anchors.get(found.node) ?? null) : found.node;
    const next = childOf(parent, step);
    if (next === null) {
      return found;
    }
    found = { ...next, steps: found.steps + 1 };
  }
  return found;
}

/** The text of a map's key, or null for a list, a map or an alias used as a key. */
export function keyText(key: unknown): string | null {
  if (!isScalar(key)) {
    return null;
  }
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function childOf(parent: Node | null, step: string | number): Omit<Lookup, "steps"> | null {
  if (isSeq(parent) && typeof step === "number") {
    const item = parent.items[step];
    return isNode(item) ? { node: item, key: null } : null;
  }
  const pair = isMap(parent) ? pairsOf(parent).get(String(step)) : undefined;
  if (pair === undefined) {
    return null;
  }
  return { node: isNode(pair.value) ? pair.value : null, key: isNode(pair.key) ? pair.key : null };
}

/** Pairs by key, the first of each. Memoized, because a file may have as many mistakes as keys. */
const pairsOf = memoize((map: YAMLMap): ReadonlyMap<string | null, Pair> => {
  const pairs = map.items.map((pair) => [keyText(pair.key), pair] as const);
  return new Map(pairs.toReversed());
});
