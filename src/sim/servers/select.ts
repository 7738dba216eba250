import { type Field, parseQuery, QuerySyntaxError } from "./query.ts";

/** The types of an API: type name → field → the type of what it holds, `scalar` for a leaf. */
export type Schema = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A field of a query that the schema has no answer to. */
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
  | { readonly kind: "fields"; readonly fields: readonly Field[] }
  | { readonly kind: "mismatch"; readonly mismatch: Mismatch }
  | { readonly kind: "unparsable"; readonly message: string };

/** Reads a query and holds it against the schema, whose root type is `root`. */
export function understand(schema: Schema, root: string, text: string): Understood {
  try {
    const fields = parseQuery(text);
    const mismatch = findMismatch(schema, { typeName: root, fields, path: [] });
    return mismatch === null ? { kind: "fields", fields } : { kind: "mismatch", mismatch };
  } catch (error) {
    if (error instanceof QuerySyntaxError) {
      return { kind: "unparsable", message: error.message };
    }
    throw error;
  }
}

/** What was asked for of a value, and no more, in the order of the query. */
export function pick(value: unknown, fields: readonly Field[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => pick(item, fields));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const source = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    fields.map(({ key, name, fields: below }) => {
      const found = source.get(name) ?? null;
      return [key, below === null ? found : pick(found, below)];
    }),
  );
}

interface Selection {
  readonly typeName: string;
  readonly fields: readonly Field[];
  readonly path: readonly string[];
}

function findMismatch(schema: Schema, selection: Selection): Mismatch | null {
  for (const field of selection.fields) {
    const found = findFieldMismatch(schema, selection, field);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

function findFieldMismatch(
  schema: Schema,
  { typeName, path: above }: Selection,
  field: Field,
): Mismatch | null {
  const path = [...above, field.name];
  const type = field.name === "__typename" ? "scalar" : schema[typeName]?.[field.name];
  if (type === undefined) {
    return { problem: "unknown_field", typeName, field: field.name, path };
  }
  if (type === "scalar") {
    return field.fields === null ? null : { problem: "has_no_fields", typeName, field: field.name, path };
  }
  if (field.fields === null) {
    return { problem: "needs_fields", typeName: type, field: field.name, path };
  }
  return findMismatch(schema, { typeName: type, fields: field.fields, path });
}
