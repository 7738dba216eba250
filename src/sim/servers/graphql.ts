import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from "graphql";
import { type Answer, json } from "./answer.ts";

/** The fields of an object. Each is a value or a function of its arguments. */
export type Fields = Readonly<Record<string, unknown>>;

/** A query selects a field that the object lacks. `type`: the field that holds the object; `Query` for the root. */
export class UnknownField extends Error {
  override readonly name = "UnknownField";
  readonly field: string;
  readonly type: string;

  constructor(field: string, type: string) {
    super(`Cannot query field "${field}" on type "${type}".`);
    this.field = field;
    this.type = type;
  }
}

/**
 * Answers a query from the fields of the root. There is no schema, so selections below an empty list or null are not checked.
 * `refuse` makes the reply to an invalid query.
 */
export function answerQuery(query: string, root: Fields, refuse: (error: Error) => Answer): Answer {
  try {
    const [operation] = parse(query).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.QUERY) {
      throw new GraphQLError("expected one query");
    }
    return json({ data: select(operation.selectionSet, root, "Query") });
  } catch (error) {
    if (error instanceof UnknownField || error instanceof GraphQLError) {
      return refuse(error);
    }
    throw error;
  }
}

function select({ selections }: SelectionSetNode, object: Fields, type: string): object {
  const found = selections.map((node): [string, unknown] => {
    if (node.kind !== Kind.FIELD) {
      throw new GraphQLError("a simulated server has no fragments");
    }
    const name = node.name.value;
    if (!Object.hasOwn(object, name)) {
      throw new UnknownField(name, type);
    }
    const args = (node.arguments ?? []).map((arg) => [arg.name.value, valueFromASTUntyped(arg.value)]);
    const held = object[name];
    const value: unknown = typeof held === "function" ? held(Object.fromEntries(args)) : held;
    const set = node.selectionSet;
    return [node.alias?.value ?? name, set === undefined ? value : selectFrom(value, set, name)];
  });
  return Object.fromEntries(found);
}

function selectFrom(value: unknown, set: SelectionSetNode, type: string): unknown {
  if (Array.isArray(value)) {
    return value.map((one) => selectFrom(one, set, type));
  }
  return typeof value === "object" && value !== null ? select(set, { ...value }, type) : null;
}
