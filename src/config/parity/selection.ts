import type { DocumentNode, FieldNode, GraphQLError, Kind, SelectionSetNode } from "graphql";
import { loadGraphql } from "./graphql.ts";

/** A selection that can stand beside a height, or why it cannot. */
export type SelectionCheck =
  | { readonly kind: "selection"; readonly select: string; readonly field: FieldNode }
  | { readonly kind: "invalid"; readonly message: string };

// The values of graphql-js, which is loaded late.
const FIELD: `${Kind.FIELD}` = "Field";
const INLINE_FRAGMENT: `${Kind.INLINE_FRAGMENT}` = "InlineFragment";
const OPERATION: `${Kind.OPERATION_DEFINITION}` = "OperationDefinition";
const MAX_TOKENS = 300;
/** graph-node answers for a failed subgraph under this key only, so nothing else may be asked of it. */
const META = "_meta";

/** Checks a selection whose placeholders are filled. It must be one field: it gets an alias in each request. */
export function checkSelection(text: string): SelectionCheck {
  const parsed = parseSelection(text);
  if (parsed.kind === "syntax error") {
    return invalid(`it is not valid GraphQL: ${syntaxErrorOf(parsed.error, text)}`);
  }
  const { document } = parsed;
  const [operation, ...others] = document.definitions;
  if (operation?.kind !== OPERATION || others.length > 0) {
    return invalid("expected one field, found several definitions");
  }
  const [field, ...further] = operation.selectionSet.selections;
  if (field === undefined || further.length > 0) {
    return invalid(`expected one field, found ${operation.selectionSet.selections.length}`);
  }
  if (field.kind !== FIELD) {
    return invalid("expected one field, found a fragment");
  }
  const flaw = flawOfField(field) ?? flawWithin(document);
  return flaw === null ? { kind: "selection", select: inOneLine(text), field } : invalid(flaw);
}

/** Why a path cannot lead to a value of a selection; null if it can. A position in a list may follow any field. */
export function checkPath(path: string, root: FieldNode): string | null {
  const [first = "", ...rest] = path.split(".");
  if (first !== root.name.value) {
    return cannotFollow(path, `the selection begins with ${root.name.value}`);
  }
  let field = root;
  for (const step of rest) {
    if (isPosition(step)) {
      continue;
    }
    const inner = fieldsOf(field.selectionSet);
    const next = inner.find((candidate) => keyOf(candidate) === step);
    if (next === undefined) {
      const found = inner.length === 0 ? "which has no fields" : `only ${inner.map(keyOf).join(", ")}`;
      return cannotFollow(path, `the selection has no ${step} in ${keyOf(field)}, ${found}`);
    }
    field = next;
  }
  const below = fieldsOf(field.selectionSet).map(keyOf);
  return below.length === 0
    ? null
    : cannotFollow(path, `it ends at ${keyOf(field)}, which has fields: continue with ${below.join(", ")}`);
}

type Parsed =
  | { readonly kind: "document"; readonly document: DocumentNode }
  | { readonly kind: "syntax error"; readonly error: GraphQLError };

function parseSelection(text: string): Parsed {
  const graphql = loadGraphql();
  try {
    // The line break ends a comment.
    const document = graphql.parse(`{ ${text}\n}`, { maxTokens: MAX_TOKENS, noLocation: true });
    return { kind: "document", document };
  } catch (error) {
    if (error instanceof graphql.GraphQLError) {
      return { kind: "syntax error", error };
    }
    throw error;
  }
}

/** What graphql-js found; the brace that closes our own query is the end of the selection. */
function syntaxErrorOf({ message, positions }: GraphQLError, text: string): string {
  const isAtEnd = (positions?.[0] ?? 0) > text.length;
  const flaw = message.replace(/^Syntax Error: |\.$/g, "");
  return isAtEnd ? flaw.replace(/found (?:"}"|<EOF>)$/, "found its end") : flaw;
}

function flawOfField(field: FieldNode): string | null {
  if (field.name.value === META) {
    return `expected a field other than ${META}, which each request has already`;
  }
  return field.alias === undefined
    ? null
    : `expected ${field.name.value} without an alias: each request gives it one`;
}

function flawWithin(document: DocumentNode): string | null {
  let flaw: string | null = null;
  loadGraphql().visit(document, {
    Variable({ name }) {
      flaw ??= `expected values instead of the variable $${name.value}; placeholders are {chain} and {chain_id}`;
    },
    FragmentSpread({ name }) {
      flaw ??= `expected fields instead of the fragment ...${name.value}`;
    },
  });
  return flaw;
}

/** The fields of a selection set, those of its inline fragments included. */
function fieldsOf(set: SelectionSetNode | undefined): readonly FieldNode[] {
  return (set?.selections ?? []).flatMap((selection) =>
    selection.kind === FIELD
      ? [selection]
      : fieldsOf(selection.kind === INLINE_FRAGMENT ? selection.selectionSet : undefined),
  );
}

/** The key of a field in the answer. */
function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function isPosition(step: string): boolean {
  return /^\d+$/.test(step);
}

/** Line breaks outside of block strings have no meaning; a comment would hide what follows it in one line. */
function inOneLine(text: string): string {
  return /#|"""/.test(text)
    ? loadGraphql().stripIgnoredCharacters(text)
    : text.trim().replace(/\s*[\r\n]\s*/g, " ");
}

function cannotFollow(path: string, why: string): string {
  return `Cannot follow path "${path}": ${why}`;
}

function invalid(why: string): SelectionCheck {
  return { kind: "invalid", message: `Cannot use this selection: ${why}` };
}
