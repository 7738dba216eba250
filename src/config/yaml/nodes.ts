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

/** What each alias of a document stands for. */
export type Anchors = ReadonlyMap<Alias, Node>;

/** How far a path leads into a document. */
export interface Found {
  readonly node: Node | null;
  /** The key that leads to the node, where it is in a map. */
  readonly key: Node | null;
  /** How many steps of the path there are in the file. */
  readonly steps: number;
}

/** Resolves all aliases in one pass: the library's own look-up walks the whole document for each. */
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

/** Follows a path, through aliases, as far as it leads. */
export function findNode(contents: Node | null, path: Path, anchors: Anchors): Found {
  let found: Found = { node: contents, key: null, steps: 0 };
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

function childOf(parent: Node | null, step: string | number): Omit<Found, "steps"> | null {
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

/** By their keys, the first of each; worked out once a map, for a file may have as many mistakes as keys. */
const pairsOf = memoize((map: YAMLMap): ReadonlyMap<string | null, Pair> => {
  const pairs = map.items.map((pair) => [keyText(pair.key), pair] as const);
  return new Map(pairs.toReversed());
});
