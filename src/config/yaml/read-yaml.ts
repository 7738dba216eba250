import { isScalar, LineCounter, type Node, parseDocument } from "yaml";
import type { Path, Problem } from "./config-error.ts";
import { findNode, type Lookup, readAnchors } from "./nodes.ts";
import { NO_QUERY_NEEDED } from "./pasted-query.ts";
import { plainValue } from "./plain-value.ts";

/** A place in a file; both count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** A configuration file as plain data, with the position of each piece. */
export interface YamlFile {
  readonly value: unknown;
  /** What is not valid YAML, or not usable as configuration. */
  readonly problems: readonly Problem[];
  /** False if the syntax is invalid: the content cannot be checked then. */
  readonly readable: boolean;
  /** The position of a value, or of its nearest ancestor if it is absent. */
  positionOf(path: Path): Position;
  /** The position of the key of a value. */
  keyPositionOf(path: Path): Position;
  /** A scalar as the user wrote it: templates use `1.10` and `0x1F` literally. */
  sourceOf(path: Path): string | null;
}

/** Enough for 50,000 chains, which take five seconds to check. */
const MAX_CHARACTERS = 4 * 2 ** 20;

/** Reads the single document of a configuration file: YAML 1.2 without tags, and with a limit on aliases. */
export function readYaml(text: string): YamlFile {
  return text.length > MAX_CHARACTERS ? oversized(text) : parseYaml(text);
}

function parseYaml(text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    logLevel: "error",
    prettyErrors: false,
    schema: "core",
    uniqueKeys: false,
  });
  const anchors = readAnchors(document);
  const at = (offset: number): Position => positionAt(lines, offset);
  const syntax = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    ...at(pos[0]),
    path: [],
    message: `${syntaxMessage(code, message)}${queryHint(text, at(pos[0]).line)}`,
  }));
  const readable = syntax.length === 0;
  const plain = readable ? plainValue(document.contents, anchors) : { value: null, problems: [] };

  return {
    value: plain.value,
    problems: [
      ...syntax,
      ...plain.problems.map(({ node, path, message }) => ({ ...at(startOf(node) ?? 0), path, message })),
    ],
    readable,
    positionOf(path) {
      const found = findNode(document.contents, path, anchors);
      return at(found.steps === path.length ? valueOffset(found) : keyOffset(found));
    },
    keyPositionOf: (path) => at(keyOffset(findNode(document.contents, path, anchors))),
    sourceOf(path) {
      const { node, steps } = findNode(document.contents, path, anchors);
      return steps === path.length && isScalar(node) ? (node.source ?? null) : null;
    },
  };
}

function oversized(text: string): YamlFile {
  const found = `${(text.length / 2 ** 20).toFixed(1)} MiB`;
  const message = `Cannot read a file of ${found}: expected at most ${MAX_CHARACTERS / 2 ** 20} MiB`;
  const start = { line: 1, column: 1 };
  return {
    value: null,
    problems: [{ ...start, path: [], message }],
    readable: false,
    positionOf: () => start,
    keyPositionOf: () => start,
    sourceOf: () => null,
  };
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function syntaxMessage(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") {
    return "Cannot read a second document: expected a single YAML document";
  }
  // The library's messages end with what was found, which may be a key.
  if (code === "TAG_RESOLVE_FAILED" || code === "BAD_COLLECTION_TYPE") {
    return "Cannot read YAML: tags such as !name are not supported";
  }
  if (code === "BAD_DIRECTIVE") {
    return "Cannot read YAML: directives such as %NAME are not supported";
  }
  const [what = ""] = code === "UNEXPECTED_TOKEN" ? message.split(": ") : [message];
  return `Cannot read YAML: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
}

/** A GraphQL query is nearly a YAML map, and fails here before its key or value can be checked. */
function queryHint(text: string, line: number): string {
  return text.split("\n")[line - 1]?.includes("_meta")
    ? `; a GraphQL query cannot be used here: ${NO_QUERY_NEEDED}`
    : "";
}

function valueOffset({ node, key }: Lookup): number {
  return startOf(node) ?? startOf(key) ?? 0;
}

function keyOffset({ node, key }: Lookup): number {
  return startOf(key) ?? startOf(node) ?? 0;
}

function startOf(node: unknown): number | null {
  return isRanged(node) ? (node.range?.[0] ?? null) : null;
}

function isRanged(node: unknown): node is Pick<Node, "range"> {
  return typeof node === "object" && node !== null && "range" in node;
}
