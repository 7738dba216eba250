import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";
import type { Path } from "./config-error.ts";
import { type Anchors, keyText } from "./nodes.ts";

/** What plain data cannot hold, and the node that says it. */
export interface NodeProblem {
  readonly node: unknown;
  readonly path: Path;
  readonly message: string;
}

interface Walk {
  readonly anchors: Anchors;
  readonly problems: NodeProblem[];
  /** Aliases being followed: one that turns up again contains itself. */
  readonly following: readonly Alias[];
  /** Counts down the values that aliases stand for. */
  readonly allowance: { aliased: number };
}

/** Far more than a fleet of a thousand chains needs, far less than a file that is built to explode. */
const MAX_ALIASED_VALUES = 20_000;
const MAX_DEPTH = 32;

/**
 * The plain data of a YAML node. Unlike the library's own conversion it tells where it objects: to a key that stands
 * twice or is no text, to an alias without anchor, and to aliases that contain themselves or multiply.
 */
export function plainValue(
  contents: unknown,
  anchors: Anchors,
): { readonly value: unknown; readonly problems: readonly NodeProblem[] } {
  const problems: NodeProblem[] = [];
  const walk = { anchors, problems, following: [], allowance: { aliased: MAX_ALIASED_VALUES } };
  return { value: toPlain(contents, [], walk), problems };
}

function toPlain(node: unknown, path: Path, walk: Walk): unknown {
  if (path.length > MAX_DEPTH) {
    walk.problems.push({ node, path, message: `Cannot read values nested deeper than ${MAX_DEPTH} levels` });
    return null;
  }
  if (isAlias(node)) {
    return follow(node, path, walk);
  }
  walk.allowance.aliased -= walk.following.length > 0 ? 1 : 0;
  if (isMap(node)) {
    return mapToPlain(node, path, walk);
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => toPlain(item, [...path, index], walk));
  }
  return isScalar(node) ? node.value : null;
}

function follow(alias: Alias, path: Path, walk: Walk): unknown {
  const target = walk.anchors.get(alias);
  if (target === undefined) {
    const message = `Cannot follow *${alias.source}: no anchor &${alias.source} stands before it`;
    walk.problems.push({ node: alias, path, message });
    return null;
  }
  if (walk.following.includes(alias)) {
    walk.problems.push({ node: alias, path, message: `Cannot follow *${alias.source}: it contains itself` });
    return null;
  }
  if (walk.allowance.aliased > 0) {
    return toPlain(target, path, { ...walk, following: [...walk.following, alias] });
  }
  if (walk.allowance.aliased !== Number.NEGATIVE_INFINITY) {
    walk.allowance.aliased = Number.NEGATIVE_INFINITY;
    const message = `Cannot follow *${alias.source}: the file's aliases stand for more than ${MAX_ALIASED_VALUES} values`;
    walk.problems.push({ node: alias, path, message });
  }
  return null;
}

function mapToPlain(map: YAMLMap, path: Path, walk: Walk): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const pair of map.items) {
    const key = readKey(pair, entries);
    if (key.objection === null) {
      entries.set(key.text, toPlain(pair.value, [...path, key.text], walk));
    } else {
      walk.problems.push({ node: pair.key, path: [...path, key.text], message: key.objection });
    }
  }
  return Object.fromEntries(entries);
}

function readKey(
  { key }: Pair,
  known: ReadonlyMap<string, unknown>,
): { text: string; objection: string | null } {
  const text = keyText(key);
  if (text === null) {
    return { text: "?", objection: "Cannot use a list, a map or an alias as a key: expected a name" };
  }
  if (text === "__proto__") {
    return { text, objection: "Cannot use __proto__ as a key" };
  }
  return { text, objection: known.has(text) ? `Cannot use key "${text}" twice in one map` : null };
}
