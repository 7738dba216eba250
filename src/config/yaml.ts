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
      const { node, key, isWhole } = findNode(document.contents, path, targets);
      const [first, second] = what === "value" && isWhole ? [node, key] : [key, node];
      return at(first?.range?.[0] ?? second?.range?.[0] ?? 0);
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
    const pair = isMap(parent)
      ? parent.items.findLast(({ key }) => isScalar(key) && key.value === String(step))
      : undefined;
    if (item === undefined && pair === undefined) {
      return { ...found, isWhole: false };
    }
    const node = item ?? pair?.value;
    found = { node: isNode(node) ? node : null, key: isNode(pair?.key) ? pair.key : null, isWhole: true };
  }
  return found;
}
