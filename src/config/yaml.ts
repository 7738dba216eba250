import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import { type Position, type PositionOf, type Problems, Spot } from "./problems.ts";
import type { Written } from "./shape.ts";

/** More aliases than a fleet of a thousand chains needs, and far fewer than a "billion laughs" file expands to. */
const MAX_ALIASES = 10_000;
/** Signs of another encoding: Node's replacement for bytes that are not UTF-8, and the NUL between letters of UTF-16. */
const NOT_UTF8 = /[\0\uFFFD]/;

/**
 * Reads the single document of a configuration file: YAML 1.2 without tags, and with a limit on aliases. Mistakes are added as
 * problems. The value is undefined if a mistake prevents reading the file.
 */
export function readYaml(text: string, file: string, problems: Problems): Written {
  const lines = new LineCounter();
  const document = parseDocument(text.replace(INNER_BRACES, masked), {
    // `0x1F` is read as a text: the value of a placeholder may be an address.
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
  const faults: string[] = [];
  const refuse = (offset: number, message: string): void => {
    faults.push(message);
    problems.add({ path: [], position: at(offset), message });
  };
  const garbled = text.search(NOT_UTF8);
  const faulty = garbled < 0 ? [...document.errors, ...document.warnings] : [];
  // The parser's own errors after the first one mostly follow from it.
  const first = faulty.find(({ code }) => FAULTS[code] === undefined);
  for (const { code, message, pos } of faulty.filter(
    (one) => FAULTS[one.code] !== undefined || one === first,
  )) {
    refuse(pos[0], FAULTS[code] ?? invalid(message));
  }
  if (garbled >= 0) {
    refuse(garbled, "found bytes that are not UTF-8; save the file as UTF-8");
  }
  const targets = restoreBraces(document, first === undefined ? refuse : () => undefined);
  const positionOf: PositionOf = (path, what) => {
    let found: Place = { key: null, node: document.contents };
    for (const step of path) {
      const next = childOf((found.node && targets.get(found.node)) ?? found.node, step);
      if (next === null) {
        return at((found.key ?? found.node)?.range?.[0] ?? 0);
      }
      found = next;
    }
    const { key, node } = found;
    return at((what === "value" ? (node ?? key) : (key ?? node))?.range?.[0] ?? 0);
  };
  const spot = new Spot(problems, positionOf, []);
  if (faults.some((fault) => fault !== FAULTS["DUPLICATE_KEY"] && fault !== UNQUOTED)) {
    return { value: undefined, spot };
  }
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }), spot };
  } catch (error) {
    if (!(error instanceof ReferenceError)) {
      throw error;
    }
    refuse(0, `aliases expand to more than ${MAX_ALIASES.toLocaleString("en-US")} values`);
    return { value: undefined, spot };
  }
}

/**
 * Puts the masked braces back into all texts. Refuses aliases without an anchor, texts that need quotes, and the key `__proto__`.
 * Returns the node that each alias repeats: the library's own lookup would walk the whole document for each alias.
 */
function restoreBraces(document: Document, refuse: (offset: number, message: string) => void) {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  visit(document, {
    Pair(_, { key }) {
      // An object cannot have this key.
      if (isScalar(key) && key.value === "__proto__") {
        refuse(key.range?.[0] ?? 0, "invalid key __proto__, expected another name");
      }
    },
    Value(_, node, ancestors) {
      if (node.anchor !== undefined) {
        anchors.set(node.anchor, node);
      }
      if (isScalar(node) && typeof node.value === "string") {
        const isInFlow = ancestors.some((one) => isCollection(one) && one.flow === true);
        if (node.type === "PLAIN" && isInFlow && MASKED.test(node.value)) {
          refuse(node.range?.[0] ?? 0, UNQUOTED);
        }
        node.value = unmasked(node.value);
      }
    },
    Alias(_, alias, ancestors) {
      const target = anchors.get(alias.source);
      if (target === undefined || ancestors.includes(target)) {
        refuse(
          alias.range?.[0] ?? 0,
          "unknown alias: its anchor is not defined before it; a text that begins with * needs quotes",
        );
      } else {
        targets.set(alias, target);
      }
    },
  });
  return targets;
}

/**
 * Inside `{ }` or `[ ]`, YAML reads `{` as the start of a map, so `{ Authorization: Bearer ${KEY} }` would cause several errors.
 * Before the file is parsed, each brace of a `{NAME}` that follows a character of a text is replaced by one other character, so
 * that positions stay the same. `restoreBraces` puts the braces back.
 */
const INNER_BRACES = /(?<=[^\s,[\]{}:"'])\{([\w:/.-]+)\}/g;
const [OPEN, CLOSE] = ["\uE000", "\uE001"];
const UNQUOTED = `text with braces needs quotes here, as in { Authorization: "Bearer \${KEY}" }`;
const MASKED = /[\uE000\uE001]/;

function masked(_: string, name: string): string {
  return OPEN + name + CLOSE;
}

/**
 * Puts the braces back into a text. The masked file has characters beyond Latin-1, so V8 stores it, and each text cut from it,
 * with two bytes per character. A round trip through JSON makes a copy with one byte per character.
 */
function unmasked(text: string): string {
  return String(JSON.parse(JSON.stringify(text.replaceAll(OPEN, "{").replaceAll(CLOSE, "}"))));
}

/** Replaces messages of the library that quote the file, which may contain a secret. */
const FAULTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "duplicate key",
  NON_STRING_KEY: "found a list, a map or an alias as a key, expected a name",
  MULTIPLE_DOCS: "found a second document, expected one",
  TAG_RESOLVE_FAILED: "invalid YAML: tags and directives are not supported",
  BAD_COLLECTION_TYPE: "invalid YAML: tags and directives are not supported",
  BAD_DIRECTIVE: "invalid YAML: tags and directives are not supported",
};

/** The library's own message without its end, which quotes the file. */
function invalid(message: string): string {
  return `invalid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1).replace(/(?<! ): .*/s, "")}`;
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
