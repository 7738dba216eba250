import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { memoize } from "../core/model/memoize.ts";

/** Keys and indices from the top of the file down to a value. */
export type Path = readonly (string | number)[];

/** A place in a file; both count from 1. `file` is absent where there is only one. */
export interface Position {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

/** What is not valid YAML, or not usable as configuration; of the whole file where it has no path. */
export interface YamlProblem {
  readonly path?: Path;
  readonly position: Position;
  readonly message: string;
}

/** A configuration file as plain data, with the position of each piece. */
export interface YamlFile {
  readonly value: unknown;
  readonly problems: readonly YamlProblem[];
  /** False if the content cannot be checked. */
  readonly readable: boolean;
  /** The position of a value or its key, or of its nearest ancestor if it is absent. */
  positionOf(path: Path, at: "key" | "value"): Position;
  /** A scalar as the user wrote it: templates use `1.10` and `0x1F` literally. Null for anything else. */
  sourceOf(path: Path): string | null;
}

/** Enough for 50,000 chains. */
const MAX_CHARACTERS = 4 * 2 ** 20;
/** More than a fleet of a thousand chains needs, and far less than a "billion laughs" file expands to. */
const MAX_ALIASES = 10_000;

/** Reads the single document of a configuration file: YAML 1.2 without tags, and with a limit on aliases. */
export function readYaml(text: string): YamlFile {
  if (text.length > MAX_CHARACTERS) {
    const found = `${(text.length / 2 ** 20).toFixed(1)} MiB`;
    const message = `found a file of ${found}, expected at most ${MAX_CHARACTERS / 2 ** 20} MiB`;
    const start = { line: 1, column: 1 };
    const problems = [{ position: start, message }];
    return { value: null, problems, readable: false, positionOf: () => start, sourceOf: () => null };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    logLevel: "error",
    prettyErrors: false,
    schema: "core",
    stringKeys: true,
    // The library compares each key with all others: `duplicateKeys` takes linear time.
    uniqueKeys: false,
  });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const flaws = [...document.errors, ...document.warnings].map(({ code, message, pos }): Flaw => {
    return { offset: pos[0], message: syntaxMessage(code, message) };
  });
  const targets = aliasTargets(document, flaws);
  const value = flaws.length === 0 ? plainValue(document, flaws) : null;
  const readable = flaws.length === 0;
  const find = (path: Path): Lookup => findNode(document.contents, path, targets);
  return {
    value,
    readable,
    problems: [...flaws, ...duplicateKeys(document)].map(({ offset, message }) => ({
      position: at(offset),
      message,
    })),
    positionOf(path, what) {
      const { node, key, isWhole } = find(path);
      const [first, second] = what === "value" && isWhole ? [node, key] : [key, node];
      return at(first?.range?.[0] ?? second?.range?.[0] ?? 0);
    },
    sourceOf(path) {
      const { node, isWhole } = find(path);
      return isWhole && isScalar(node) ? (node.source ?? null) : null;
    },
  };
}

interface Flaw {
  readonly offset: number;
  readonly message: string;
}

/** The library's messages end with what was found, which may be a key. */
function syntaxMessage(code: string, message: string): string {
  switch (code) {
    case "NON_STRING_KEY":
      return "found a list, a map or an alias as a key, expected a name";
    case "MULTIPLE_DOCS":
      return "found a second document, expected one";
    case "TAG_RESOLVE_FAILED":
    case "BAD_COLLECTION_TYPE":
      return "invalid YAML: tags such as !name are not supported";
    case "BAD_DIRECTIVE":
      return "invalid YAML: directives such as %NAME are not supported";
    default: {
      const what = code === "UNEXPECTED_TOKEN" ? message.replace(/: .*/s, "") : message;
      return `invalid YAML: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
    }
  }
}

/** What each alias refers to: the library's own lookup walks the whole document for each. Adds what cannot be used to `flaws`. */
function aliasTargets(document: Document, flaws: Flaw[]): ReadonlyMap<Alias, Node> {
  const latest = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node(_, node, ancestors) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) {
          latest.set(node.anchor, node);
        }
        return;
      }
      const target = latest.get(node.source);
      const offset = node.range?.[0] ?? 0;
      if (target === undefined) {
        flaws.push({ offset, message: "unknown alias: its anchor is not defined before it" });
      } else if (ancestors.includes(target)) {
        flaws.push({ offset, message: "invalid alias: it contains itself" });
      } else {
        targets.set(node, target);
      }
    },
  });
  return targets;
}

function duplicateKeys(document: Document): readonly Flaw[] {
  const duplicates: Flaw[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const text = isScalar(key) ? String(key.value) : "";
        if (seen.has(text)) {
          const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
          duplicates.push({ offset, message: `duplicate key ${JSON.stringify(text)}` });
        }
        seen.add(text);
      }
    },
  });
  return duplicates;
}

/** Null, and one more flaw, where the aliases are too many. */
function plainValue(document: Document, flaws: Flaw[]): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) {
      throw error;
    }
    const message = `aliases expand to more than ${MAX_ALIASES.toLocaleString("en-US")} values`;
    flaws.push({ offset: 0, message });
    return null;
  }
}

/** The result of following a path into a document. */
interface Lookup {
  readonly node: Node | null;
  /** The key of the node, if it is in a map. */
  readonly key: Node | null;
  /** Whether the file has the whole path; if not, the node is the nearest ancestor. */
  readonly isWhole: boolean;
}

function findNode(contents: Node | null, path: Path, targets: ReadonlyMap<Alias, Node>): Lookup {
  let found: Lookup = { node: contents, key: null, isWhole: true };
  for (const step of path) {
    const parent = isAlias(found.node) ? targets.get(found.node) : found.node;
    const item = isSeq(parent) ? parent.items[Number(step)] : undefined;
    const pair = isMap(parent) ? pairsOf(parent).get(String(step)) : undefined;
    if (item === undefined && pair === undefined) {
      return { ...found, isWhole: false };
    }
    const node = item ?? pair?.value;
    found = { node: isNode(node) ? node : null, key: isNode(pair?.key) ? pair.key : null, isWhole: true };
  }
  return found;
}

/** Memoized, because a file may have as many mistakes as keys. */
const pairsOf = memoize(
  (map: YAMLMap): ReadonlyMap<string, Pair> =>
    new Map(map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : "", pair])),
);
