import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";
import type { Path } from "./config-error.ts";
import { type Anchors, keyText } from "./nodes.ts";

/** What plain data cannot represent, and the node. */
export interface NodeProblem {
  readonly node: unknown;
  readonly path: Path;
  readonly message: string;
}

interface Walk {
  readonly anchors: Anchors;
  readonly problems: NodeProblem[];
  /** The aliases around the current node: one that occurs again contains itself. */
  readonly expanding: readonly Alias[];
  /** How many more values aliases may expand to. */
  readonly allowance: { aliased: number };
}

/** Far more than a fleet of a thousand chains needs, and far less than a "billion laughs" file expands to. */
const MAX_ALIASED_VALUES = 20_000;
const MAX_DEPTH = 32;

/**
 * The plain data of a YAML node. Unlike the library's own conversion it reports the position of repeated keys, of keys
 * that are no scalars, of aliases without an anchor, and of aliases that contain themselves or expand too far.
 */
export function plainValue(
  contents: unknown,
  anchors: Anchors,
): { readonly value: unknown; readonly problems: readonly NodeProblem[] } {
  const problems: NodeProblem[] = [];
  const walk = { anchors, problems, expanding: [], allowance: { aliased: MAX_ALIASED_VALUES } };
  return { value: toPlain(contents, [], walk), problems };
}

function toPlain(node: unknown, path: Path, walk: Walk): unknown {
  if (path.length > MAX_DEPTH) {
    walk.problems.push({ node, path, message: `Cannot read values nested deeper than ${MAX_DEPTH} levels` });
    return null;
  }
  if (isAlias(node)) {
    return expandAlias(node, path, walk);
  }
  walk.allowance.aliased -= walk.expanding.length > 0 ? 1 : 0;
  if (isMap(node)) {
    return mapToPlain(node, path, walk);
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => toPlain(item, [...path, index], walk));
  }
  return isScalar(node) ? node.value : null;
}

function expandAlias(alias: Alias, path: Path, walk: Walk): unknown {
  const target = walk.anchors.get(alias);
  if (target === undefined) {
    const message = `Cannot expand ${nameOf(alias, path)}: its anchor is not defined before it`;
    walk.problems.push({ node: alias, path, message });
    return null;
  }
  if (walk.expanding.includes(alias)) {
    walk.problems.push({
      node: alias,
      path,
      message: `Cannot expand ${nameOf(alias, path)}: it contains itself`,
    });
    return null;
  }
  if (walk.allowance.aliased > 0) {
    return toPlain(target, path, { ...walk, expanding: [...walk.expanding, alias] });
  }
  if (walk.allowance.aliased !== Number.NEGATIVE_INFINITY) {
    walk.allowance.aliased = Number.NEGATIVE_INFINITY;
    const message = `Cannot expand ${nameOf(alias, path)}: aliases expand to more than ${MAX_ALIASED_VALUES} values`;
    walk.problems.push({ node: alias, path, message });
  }
  return null;
}

/** A key that begins with * reads as an alias where keys may be written. */
function nameOf({ source }: Alias, path: Path): string {
  const mayBeKey = path.some((step) => step === "headers" || step === "url" || step === "rpc");
  return mayBeKey ? "this alias" : `*${source}`;
}

function mapToPlain(map: YAMLMap, path: Path, walk: Walk): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const pair of map.items) {
    const key = readKey(pair, entries);
    if (key.flaw === null) {
      entries.set(key.text, toPlain(pair.value, [...path, key.text], walk));
    } else {
      walk.problems.push({ node: pair.key, path: [...path, key.text], message: key.flaw });
    }
  }
  return Object.fromEntries(entries);
}

function readKey({ key }: Pair, known: ReadonlyMap<string, unknown>): { text: string; flaw: string | null } {
  const text = keyText(key);
  if (text === null) {
    return { text: "?", flaw: "Cannot use a list, a map or an alias as a key: expected a name" };
  }
  if (text === "__proto__") {
    return { text, flaw: "Cannot use __proto__ as a key" };
  }
  return { text, flaw: known.has(text) ? `Cannot use key "${text}" twice in one map` : null };
}
