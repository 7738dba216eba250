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
  parseDocument,
  visit,
} from "yaml";

/** Keys and indices from the top of the file down to a value. */
export type Path = readonly (string | number)[];

/** A place in a file; line and column count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What is not valid YAML. */
interface YamlProblem {
  readonly position: Position;
  readonly message: string;
}

/** A configuration file as plain data, with the position of each piece. */
export interface YamlFile {
  readonly file: string;
  readonly value: unknown;
  readonly problems: readonly YamlProblem[];
  /** False if the content cannot be checked. */
  readonly readable: boolean;
  /** The position of a value or its key, or of its nearest ancestor if it is absent. */
  positionOf(path: Path, at: "key" | "value"): Position;
}

/** More than a fleet of a thousand chains needs, and far less than a "billion laughs" file expands to. */
const MAX_ALIASES = 10_000;

/** Reads the single document of a configuration file: YAML 1.2 without tags, and with a limit on aliases. */
export function readYaml(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    // `0x1F` is a text: a chain's value may be an address.
    customTags: (tags) => tags.filter((tag) => typeof tag !== "object" || tag.format !== "HEX"),
    lineCounter: lines,
    logLevel: "error",
    prettyErrors: false,
    schema: "core",
    stringKeys: true,
  });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: YamlProblem[] = [];
  const refuse = (offset: number, message: string): void => {
    problems.push({ position: at(offset), message });
  };
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    refuse(pos[0], syntaxMessage(code, message));
  }
  const duplicates = document.errors.filter(({ code }) => code === "DUPLICATE_KEY").length;
  const targets = aliasTargets(document, refuse);
  const value = problems.length === duplicates ? plainValue(document, refuse) : null;
  return {
    file,
    value,
    problems,
    readable: problems.length === duplicates,
    positionOf(path, what) {
      let found: Place = { key: null, node: document.contents };
      for (const step of path) {
        const next = childOf(isAlias(found.node) ? targets.get(found.node) : found.node, step);
        if (next === null) {
          return at((found.key ?? found.node)?.range?.[0] ?? 0);
        }
        found = next;
      }
      const { key, node } = found;
      return at((what === "value" ? (node ?? key) : (key ?? node))?.range?.[0] ?? 0);
    },
  };
}

/** The library's messages end with what was found, which may be a key. */
function syntaxMessage(code: string, message: string): string {
  switch (code) {
    case "DUPLICATE_KEY":
      return "duplicate key";
    case "NON_STRING_KEY":
      return "found a list, a map or an alias as a key, expected a name";
    case "MULTIPLE_DOCS":
      return "found a second document, expected one";
    case "TAG_RESOLVE_FAILED":
    case "BAD_COLLECTION_TYPE":
    case "BAD_DIRECTIVE":
      return "invalid YAML: tags and directives are not supported";
    default: {
      const what = code === "UNEXPECTED_TOKEN" ? message.replace(/: .*/s, "") : message;
      return `invalid YAML: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
    }
  }
}

type Refuse = (offset: number, message: string) => void;

/** What each alias refers to: the library's own lookup walks the whole document for each. */
function aliasTargets(document: Document, refuse: Refuse): ReadonlyMap<Alias, Node> {
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
      if (target === undefined || ancestors.includes(target)) {
        refuse(node.range?.[0] ?? 0, "unknown alias: its anchor is not defined before it");
      } else {
        targets.set(node, target);
      }
    },
  });
  return targets;
}

function plainValue(document: Document, refuse: Refuse): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) {
      throw error;
    }
    refuse(0, `aliases expand to more than ${MAX_ALIASES.toLocaleString("en-US")} values`);
    return null;
  }
}

/** A node, and its key if it is in a map. */
interface Place {
  readonly key: Node | null;
  readonly node: Node | null;
}

/** Null: the file has no such value. */
function childOf(parent: Node | null | undefined, step: string | number): Place | null {
  if (isSeq(parent)) {
    const item = parent.items[Number(step)];
    return isNode(item) ? { key: null, node: item } : null;
  }
  const pairs = isMap(parent) ? parent.items : [];
  const pair = pairs.findLast(({ key }) => isScalar(key) && key.value === String(step));
  return isNode(pair?.key) ? { key: pair.key, node: isNode(pair.value) ? pair.value : null } : null;
}
