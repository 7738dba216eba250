import { createRequire } from "node:module";
import type { FieldNode, SelectionNode } from "graphql";
import { didYouMean } from "../core/text/near-miss.ts";
import type { ListedTarget } from "./indexers.ts";
import type { Spot } from "./problems.ts";
import { fillPlaceholders } from "./secrets.ts";

/** Where a selection is written in the file. */
interface Written {
  readonly spot: Spot;
  /** The key of the selection at `spot`. */
  readonly key: string;
  /** The path of the compared value, which is written at the key `value`. */
  readonly value?: string;
}

/** The selection of a target, in one line and with filled placeholders. Null: a problem was added. */
export function resolveSelection(select: string, target: ListedTarget, from: Written): string | null {
  const { key, values } = target;
  const filled = fillPlaceholders(select, values, (name) => {
    const advice = didYouMean(name, [...values.keys()]) || `; for a field, write { ${name} } with spaces`;
    from.spot.at(from.key).add(`no value for {${name}} on ${key}${advice}`);
  });
  return readSelection(filled, from);
}

/** Why a path leads to no value of this selection; null if it may lead to one. The fields of a fragment are not checked. */
function whyNoValue(field: FieldNode, [first = "", ...steps]: readonly string[]): string | null {
  let selections: readonly SelectionNode[] = [field];
  for (const step of [first, ...steps.filter((one) => !/^\d+$/.test(one))]) {
    if (selections.some(({ kind }) => kind !== "Field")) {
      return null;
    }
    const names = selections.flatMap((one) => (one.kind === "Field" ? [one] : []));
    const found = names.find(({ alias, name }) => (alias ?? name).value === step);
    if (found === undefined) {
      const known = names.map(({ alias, name }) => (alias ?? name).value);
      const expected =
        known.length === 0
          ? "a shorter path: the field before it has no fields in the selection"
          : known.join(" or ");
      return `found "${step}", which is not in the selection, expected ${expected}`;
    }
    selections = found.selectionSet?.selections ?? [];
  }
  const fields = selections.flatMap((one) => (one.kind === "Field" ? [(one.alias ?? one.name).value] : []));
  return fields.length === 0
    ? null
    : `the path ends at a map, expected one of its fields: ${fields.join(" or ")}`;
}

const MAX_TOKENS = 300;

/**
 * A selection in one line; null: a problem was added. It must be one field, because it gets an alias. It must not be `_meta`:
 * for a failed subgraph, graph-node returns `_meta` only without an alias.
 */
export function readSelection(select: string, { spot: entry, key, value }: Written): string | null {
  const spot = entry.at(key);
  if (/^\s*(?:query\b[^{]*)?\{/.test(select)) {
    spot.add(
      "expected one field of a query, such as campaigns(first: 1) { id }, without the braces around it",
    );
    return null;
  }
  // graphql-js is loaded here, so that a start without selections does not wait for it. `require` returns it without types.
  const { GraphQLError, parse, stripIgnoredCharacters, visit } = createRequire(import.meta.url)(
    "graphql",
  ) as typeof import("graphql");
  try {
    // The line break ends a comment.
    const document = parse(`{ ${select}\n}`, { maxTokens: MAX_TOKENS, noLocation: true });
    const [operation, ...others] = document.definitions;
    const fields = operation?.kind === "OperationDefinition" ? operation.selectionSet.selections : [];
    const [field] = fields;
    const isOneField = field?.kind === "Field" && fields.length === 1 && others.length === 0;
    if (!isOneField || field.alias !== undefined || field.name.value === "_meta") {
      spot.add("expected one field of a query other than _meta, without an alias");
      return null;
    }
    // No request defines a variable or a fragment, so each would be refused.
    const undefinedParts: string[] = [];
    visit(document, {
      Variable: ({ name }) => void undefinedParts.push(`variable $${name.value}, expected its value`),
      FragmentSpread: ({ name }) => void undefinedParts.push(`fragment ${name.value}, expected its fields`),
    });
    const [undefinedPart] = undefinedParts;
    if (undefinedPart !== undefined) {
      spot.add(`found ${undefinedPart}`);
      return null;
    }
    const misfit = value === undefined ? null : whyNoValue(field, value.split("."));
    if (misfit !== null) {
      entry.at("value").add(misfit);
      return null;
    }
    // On one line, a comment would hide everything after it.
    return /#|"""/.test(select)
      ? stripIgnoredCharacters(select)
      : select.trim().replace(/\s*[\r\n]\s*/g, " ");
  } catch (error) {
    if (error instanceof GraphQLError) {
      spot.add(`invalid GraphQL: ${error.message.replace(/^Syntax Error: |\.$/g, "")}`);
      return null;
    }
    throw error;
  }
}
