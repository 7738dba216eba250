import {
  buildSchema,
  type DocumentNode,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** A field of a query that does not fit the schema. */
export interface Mismatch {
  readonly problem: "unknown_field" | "needs_fields" | "has_no_fields";
  /** The type that lacks the field, or the type whose fields must be named. */
  readonly typeName: string;
  readonly field: string;
  /** Names of the fields down to the one in question. */
  readonly path: readonly string[];
}

/** A query as a server understands it. */
export type Understood =
  | { readonly kind: "query"; readonly document: DocumentNode }
  | { readonly kind: "mismatch"; readonly mismatch: Mismatch }
  | { readonly kind: "syntax_error"; readonly error: GraphQLError };

/** A schema whose leaves are of type `Any`, because a simulated indexer can be made to answer with values of any type. */
export function schemaOf(definitions: string): GraphQLSchema {
  return buildSchema(`scalar Any\n${definitions}`, { assumeValid: true });
}

/** Queries that a server remembers: the same few are asked again and again. */
const MOST_REMEMBERED = 100;
const remembered = new WeakMap<GraphQLSchema, Map<string, Understood>>();

/** Parses and checks a query for a server with error messages of its own. */
export function understand(schema: GraphQLSchema, query: string): Understood {
  const known = remembered.get(schema) ?? new Map<string, Understood>();
  const understood = known.get(query) ?? check(schema, query);
  if (known.size === MOST_REMEMBERED) {
    known.clear();
  }
  remembered.set(schema, known.set(query, understood));
  return understood;
}

function check(schema: GraphQLSchema, query: string): Understood {
  const document = parseQuery(query);
  if (document instanceof GraphQLError) {
    return { kind: "syntax_error", error: document };
  }
  const mismatch = findMismatch(schema, document);
  return mismatch === null ? { kind: "query", document } : { kind: "mismatch", mismatch };
}

/** The `data` for a valid query: `root` has a value, or a function of the arguments, for each root field. */
export function select(
  schema: GraphQLSchema,
  document: DocumentNode,
  root: Readonly<Record<string, unknown>>,
): unknown {
  const result = execute({ schema, document, rootValue: root });
  if ("then" in result) {
    throw new TypeError("Cannot answer: a simulated field must not be a promise");
  }
  const [error] = result.errors ?? [];
  if (error !== undefined) {
    throw error.originalError ?? error;
  }
  return result.data;
}

/** The query, or what is wrong with it as GraphQL. */
export function parseQuery(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query);
  } catch (error) {
    if (error instanceof GraphQLError) {
      return error;
    }
    throw error;
  }
}

function findMismatch(schema: GraphQLSchema, document: DocumentNode): Mismatch | null {
  const found: Mismatch[] = [];
  const path: string[] = [];
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: {
        enter(node) {
          path.push(node.name.value);
          const mismatch = mismatchOf(node, types);
          if (mismatch !== null) {
            found.push({ ...mismatch, field: node.name.value, path: [...path] });
          }
        },
        leave() {
          path.pop();
        },
      },
    }),
  );
  return found[0] ?? null;
}

function mismatchOf(node: FieldNode, types: TypeInfo): Pick<Mismatch, "problem" | "typeName"> | null {
  const parent = types.getParentType();
  const type: GraphQLNamedType | undefined = getNamedType(types.getType() ?? undefined);
  if (type === undefined) {
    return parent == null ? null : { problem: "unknown_field", typeName: parent.name };
  }
  const hasFields = node.selectionSet?.kind === Kind.SELECTION_SET;
  if (isLeafType(type)) {
    return hasFields ? { problem: "has_no_fields", typeName: parent?.name ?? "" } : null;
  }
  return hasFields ? null : { problem: "needs_fields", typeName: type.name };
}
