import { isScalar, LineCounter, type Node, parseDocument } from "yaml";
import type { Path, Problem } from "./config-error.ts";
import { type Found, findNode, readAnchors } from "./nodes.ts";
import { NO_QUERY_NEEDED } from "./pasted-query.ts";
import { plainValue } from "./plain-value.ts";

/** Where something stands in a file; both count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** A configuration file as plain data, and where each piece of it stands. */
export interface YamlFile {
  readonly value: unknown;
  /** What YAML itself objects to. */
  readonly problems: readonly Problem[];
  /** False where the syntax is broken: such a file has no shape to complain about. */
  readonly readable: boolean;
  /** Where a value stands; for one that is not there, where its nearest ancestor does. */
  positionOf(path: Path): Position;
  /** Where the key of a value stands. */
  keyPositionOf(path: Path): Position;
  /** A scalar as the user wrote it: `1.10` and `0x1F` are no numbers to a template. */
  sourceOf(path: Path): string | null;
}

/** Reads the one document of a configuration file: YAML 1.2 without tags, aliases within reason. */
export function readYaml(text: string): YamlFile {
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

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function syntaxMessage(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") {
    return "Cannot read a second document: expected one, without a --- in between";
  }
  // Some messages end in the text that was found, which may be a key.
  const [told = ""] = code === "UNEXPECTED_TOKEN" ? message.split(": ") : [message];
  return `Cannot read YAML: ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
}

/** A query in braces is half YAML: it fails here, before anybody can see that it is a query. */
function queryHint(text: string, line: number): string {
  return text.split("\n")[line - 1]?.includes("_meta")
    ? `; nor has a GraphQL query a place here: ${NO_QUERY_NEEDED}`
    : "";
}

function valueOffset({ node, key }: Found): number {
  return startOf(node) ?? startOf(key) ?? 0;
}

function keyOffset({ node, key }: Found): number {
  return startOf(key) ?? startOf(node) ?? 0;
}

function startOf(node: unknown): number | null {
  return isRanged(node) ? (node.range?.[0] ?? null) : null;
}

function isRanged(node: unknown): node is Pick<Node, "range"> {
  return typeof node === "object" && node !== null && "range" in node;
}
