import { z } from "zod";
import { nearMiss } from "../core/text/near-miss.ts";
import type { Spot } from "./problems.ts";
import type { Path } from "./yaml.ts";

type Schema = z.core.$ZodType;

/** A part of a file whose entries are parsed one by one; null for one that is broken, so that references to it can stay silent. */
type Entries<S> =
  S extends z.ZodDefault<infer Inner>
    ? Entries<Inner>
    : S extends z.ZodRecord<infer _Key, infer Value>
      ? ReadonlyMap<string, Entries<Value>> | null
      : S extends z.ZodArray<infer Item>
        ? readonly Entries<Item>[] | null
        : z.output<S> | null;

/** The sections of a file, each with its entries. */
export type EntriesOf<File> =
  File extends z.ZodObject<infer Shape> ? { readonly [Name in keyof Shape]: Entries<Shape[Name]> } : never;

/** Parses a file section by section, and its maps and lists entry by entry. An undefined one has no sections and no problems. */
export function parseSections<File extends z.ZodObject>(
  schema: File,
  value: unknown,
  spot: Spot,
): EntriesOf<File> {
  const names = Object.keys(schema.shape);
  const outline = z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
  if (value !== undefined) {
    parseWith(outline, value, schema, spot);
  }
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  const sections = new Map<string, unknown>(Object.entries(isMap ? value : {}));
  // The cases of `parseInner` are those of `Entries`.
  return Object.fromEntries(
    Object.entries<Schema>(schema.shape).map(([name, section]) => [
      name,
      isMap ? parseInner(section, sections.get(name), spot.at(name)) : null,
    ]),
  ) as EntriesOf<File>;
}

/** Parses an entry. Null: problems were added. */
export function parseEntry<S extends z.ZodType>(schema: S, value: unknown, spot: Spot): z.output<S> | null {
  return parseInner(schema, value, spot) as z.output<S> | null;
}

function parseInner(schema: Schema, value: unknown, spot: Spot): unknown {
  const { def } = typed(schema)._zod;
  switch (def.type) {
    case "default":
      return parseInner(def.innerType, value === undefined ? def.defaultValue : value, spot);
    case "array": {
      const list = parseWith(new z.ZodArray({ ...def, element: z.unknown() }), value, schema, spot);
      return Array.isArray(list)
        ? list.map((item: unknown, index) => parseInner(def.element, item, spot.at(index)))
        : null;
    }
    case "record": {
      const shell = new z.ZodRecord({ ...def, keyType: z.string(), valueType: z.unknown() });
      const entries = parseWith(shell, value, schema, spot) as Record<string, unknown> | null;
      return (
        entries &&
        new Map(
          Object.entries(entries).map(([name, entry]) => {
            if (!z.core.safeParse(def.keyType, name).success) {
              spot.at(name).add(wrongValue(def.keyType, name), "key");
            }
            return [name, parseInner(def.valueType, entry, spot.at(name))];
          }),
        )
      );
    }
    default:
      for (const inner of pathsOfVariables(value, [])) {
        if (metaOf(schemaAt(schema, inner), "secret") !== true) {
          spot.at(...inner).add(`found \${…}, which works only in url, headers and rpc`);
        }
      }
      return parseWith(schema, value, schema, spot);
  }
}

/** What is wrong is described by `described`, which is the schema, or the one that it is a part of. */
function parseWith(schema: Schema, value: unknown, described: Schema, spot: Spot): unknown {
  const { data, error } = z.core.safeParse(schema, value, { reportInput: true });
  for (const issue of error?.issues ?? []) {
    addIssue(issue, described, spot);
  }
  if (error === undefined) {
    return data;
  }
  // An unknown key hides nothing else that is wrong with its entry.
  const known = withoutUnknownKeys(value, error.issues);
  return known === null ? null : (z.core.safeParse(schema, known).data ?? null);
}

/** A copy without the keys that the issues are about; null where any issue is about something else. */
function withoutUnknownKeys(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy = structuredClone(value);
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") {
      return null;
    }
    const parent = issue.path.reduce<unknown>((at, step) => Reflect.get(Object(at) as object, step), copy);
    for (const key of issue.keys) {
      Reflect.deleteProperty(Object(parent) as object, key);
    }
  }
  return copy;
}

function pathsOfVariables(value: unknown, path: Path): readonly Path[] {
  if (typeof value === "string") {
    return value.includes("${") ? [path] : [];
  }
  return Object.entries(value ?? {}).flatMap(([step, item]) =>
    pathsOfVariables(item, [...path, Array.isArray(value) ? Number(step) : step]),
  );
}

function addIssue(issue: z.core.$ZodIssue, schema: Schema, top: Spot): void {
  const spot = top.at(...issue.path.map((step) => (typeof step === "number" ? step : String(step))));
  const where = schemaAt(schema, issue.path);
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      spot.at(key).add(() => unknownKey(key, keysOf(where)), "key");
    }
    return;
  }
  // What is wrong with the alternative of the same type is more use than that no alternative fits.
  const branch =
    issue.code === "invalid_union" ? issue.errors.find((issues) => !issues.some(isOtherType)) : undefined;
  for (const inner of branch ?? []) {
    addIssue({ ...inner, path: [...issue.path, ...inner.path] }, schema, top);
  }
  if (branch === undefined) {
    spot.add(messageOf(issue, where));
  }
}

/** The `message` of an issue with the parameter `own` is a check's own; zod's are for programmers. */
function messageOf(issue: z.core.$ZodIssue, schema: Schema | null): string {
  if (issue.code === "custom" && issue.params?.["own"] === true) {
    return issue.message;
  }
  const isNever = issue.code === "invalid_type" && issue.expected === "never";
  return isNever ? "not supported by Synclag" : wrongValue(schema, issue.input);
}

function isOtherType({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && code === "invalid_type";
}

/** "found X, expected Y", where Y is the `expected` in the schema's metadata. What may be a key is not repeated. */
function wrongValue(schema: Schema | null, value: unknown): string {
  const expected = String(metaOf(schema, "expected") ?? "another value");
  if (value === undefined) {
    return `required key missing (expected ${expected})`;
  }
  const isSecret = metaOf(schema, "secret") === true;
  return isSecret && typeof value === "string" && value !== ""
    ? `invalid value, expected ${expected}`
    : `found ${isSecret ? describeKind(value) : describeValue(value)}, expected ${expected}`;
}

const MAX_SHOWN = 80;

/** A value as error messages show it: scalars as they are, maps and lists by their kind. */
export function describeValue(value: unknown): string {
  if (typeof value === "string" && value !== "") {
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  return typeof value === "number" || typeof value === "boolean" ? String(value) : describeKind(value);
}

/** The kind of a value, without anything of its content. */
function describeKind(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return value === null || value === "" ? "an empty value" : `a ${typeof value}`;
  }
  const kind = Array.isArray(value) ? "list" : "map";
  return Object.keys(value).length === 0 ? `an empty ${kind}` : `a ${kind}`;
}

/** Bounds the search: with as many mistakes as known words its cost would grow with their square. */
const MAX_CANDIDATES = 250;

/** `; did you mean "base"?`, or an empty text if no known word is similar. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const similar = nearMiss(typed, known.slice(0, MAX_CANDIDATES));
  return similar === null ? "" : `; did you mean "${similar}"?`;
}

function unknownKey(key: string, known: readonly string[]): string {
  return `unknown key "${key}"${didYouMean(key, known) || `; expected ${known.join(", ")}`}`;
}

function keysOf(schema: Schema | null): readonly string[] {
  const { def } = typed(innermost(schema ?? z.never()))._zod;
  if (def.type === "union") {
    return def.options.flatMap(keysOf);
  }
  const fields = def.type === "object" ? Object.entries(def.shape) : [];
  return fields.filter(([, field]) => typed(innermost(field))._zod.def.type !== "never").map(([key]) => key);
}

/** What the metadata of a schema, or of the one that it wraps, says. */
function metaOf(schema: Schema | null, key: "expected" | "secret"): unknown {
  return schema === null
    ? undefined
    : (z.globalRegistry.get(schema)?.[key] ?? metaOf(unwrapped(schema), key));
}

/** The schema of the value at a path, or null. */
function schemaAt(schema: Schema | null, [step, ...rest]: readonly PropertyKey[]): Schema | null {
  return schema === null || step === undefined ? schema : schemaAt(childOf(schema, step), rest);
}

function childOf(schema: Schema, step: PropertyKey): Schema | null {
  const { def } = typed(innermost(schema))._zod;
  switch (def.type) {
    case "object":
      return def.shape[String(step)] ?? def.catchall ?? null;
    case "record":
      return typeof step === "number" ? null : def.valueType;
    case "array":
      return typeof step === "number" ? def.element : null;
    case "union":
      return def.options.map((option) => childOf(option, step)).find((child) => child !== null) ?? null;
    default:
      return null;
  }
}

/** The schema within one that adds a default, a transformation or the like; null if there is none. */
function unwrapped(schema: Schema): Schema | null {
  const { def } = typed(schema)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
      return def.innerType;
    case "pipe":
      return def.in;
    default:
      return null;
  }
}

function innermost(schema: Schema): Schema {
  const inner = unwrapped(schema);
  return inner === null ? schema : innermost(inner);
}

/** zod's union of all its schemas, which its functions take as their base class. */
function typed(schema: Schema): z.core.$ZodTypes {
  return schema as z.core.$ZodTypes;
}
