import { z } from "zod";
import { memoize } from "../core/model/memoize.ts";
import { nearMiss } from "../core/text/near-miss.ts";
import type { Spot } from "./problems.ts";
import type { Path } from "./yaml.ts";

type Schema = z.core.$ZodType;

/** A value, and where it is written; null: it is broken, so that references to it stay silent. */
export interface Entry<T> {
  readonly value: T | null;
  readonly spot: Spot;
}

/** A part of a file, parsed entry by entry. */
type Entries<S> =
  S extends z.ZodDefault<infer Inner>
    ? Entries<Inner>
    : S extends z.ZodOptional<infer Inner>
      ? Entries<Inner> | undefined
      : S extends z.ZodRecord<infer _Key, infer Value>
        ? ReadonlyMap<string, Entries<Value>> | null
        : S extends z.ZodArray<infer Item>
          ? readonly Entries<Item>[] | null
          : Entry<z.output<S>>;

/** The sections of a file, each with its entries. */
export type EntriesOf<File> =
  File extends z.ZodObject<infer Shape> ? { readonly [Name in keyof Shape]: Entries<Shape[Name]> } : never;

/** Parses a file section by section, and its maps and lists entry by entry. Null: it is no map. */
export function parseSections<File extends z.ZodObject>(
  file: File,
  value: unknown,
  top: Spot,
): EntriesOf<File> | null {
  const names = Object.keys(file.shape);
  const outline = z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
  const sections = parseWhole(outline, value, top, file);
  if (sections === null) {
    return null;
  }
  // The cases of `parseInner` are those of `Entries`.
  return Object.fromEntries(
    Object.entries<Schema>(file.shape).map(([name, section]) => [
      name,
      parseInner(section, sections[name], top.at(name), file),
    ]),
  ) as EntriesOf<File>;
}

/** Parses a part of a file. */
function parseInner(schema: Schema, value: unknown, spot: Spot, file: z.ZodType): unknown {
  // zod's union of all its schemas, which its functions take as their base class.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "default") {
    return parseInner(def.innerType, value === undefined ? def.defaultValue : value, spot, file);
  }
  if (def.type === "optional") {
    return value === undefined ? undefined : parseInner(def.innerType, value, spot, file);
  }
  if (def.type === "array") {
    const list = parseWhole(new z.ZodArray({ ...def, element: z.unknown() }), value, spot, file);
    return list?.map((item, index) => parseInner(def.element, item, spot.at(index), file)) ?? null;
  }
  if (def.type !== "record") {
    return { value: parseWhole(schema, value, spot, file), spot };
  }
  const shell = new z.ZodRecord({ ...def, keyType: z.string(), valueType: z.unknown() });
  const entries = parseWhole(shell, value, spot, file);
  return (
    entries &&
    new Map(
      Object.entries(entries).map(([name, entry]) => {
        if (!z.core.safeParse(def.keyType, name).success) {
          spot.at(name).add(wrongValue(descriptionAt(file, spot.path)?.propertyNames, name), "key");
        }
        return [name, parseInner(def.valueType, entry, spot.at(name), file)];
      }),
    )
  );
}

/** Parses a value, which is a part of `file`, or the whole of it. Null: problems were added. */
export function parseWhole<S extends Schema>(
  schema: S,
  value: unknown,
  spot: Spot,
  file: z.ZodType,
): z.output<S> | null {
  const { data, error } = z.core.safeParse(schema, value, { reportInput: true });
  const issues = error?.issues ?? [];
  for (const issue of issues) {
    addIssue(issue, spot, file);
  }
  if (issues.length === 0 || issues.some(({ code }) => code !== "unrecognized_keys")) {
    return data ?? null;
  }
  // An unknown key hides nothing else that is wrong with its entry.
  const copy = structuredClone(value);
  for (const { path, keys } of issues.filter((issue) => issue.code === "unrecognized_keys")) {
    // An issue leads to a map.
    const parent = path.reduce<unknown>((at, step) => Reflect.get(at as object, step), copy) as object;
    for (const key of keys) {
      Reflect.deleteProperty(parent, key);
    }
  }
  return z.core.safeParse(schema, copy).data ?? null;
}

function addIssue(issue: z.core.$ZodIssue, top: Spot, file: z.ZodType): void {
  const spot = top.at(...issue.path.map((step) => (typeof step === "number" ? step : String(step))));
  const described = descriptionAt(file, spot.path);
  if (issue.code === "unrecognized_keys") {
    const known = keysOf(described);
    for (const key of issue.keys) {
      const hint = didYouMean(key, known) || `; expected ${known.join(", ")}`;
      spot.at(key).add(`unknown key "${key}"${hint}`, "key");
    }
    return;
  }
  // What is wrong with the alternative of the same type is more use than that no alternative fits.
  const branch =
    issue.code === "invalid_union" ? issue.errors.find((issues) => !issues.some(isOtherType)) : undefined;
  for (const inner of branch ?? []) {
    addIssue({ ...inner, path: [...issue.path, ...inner.path] }, top, file);
  }
  if (branch === undefined) {
    const words = issue.code === "invalid_value" ? issue.values.map(String) : [];
    spot.add(wrongValue(described, issue.input, words));
  }
}

function isOtherType({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && code === "invalid_type";
}

/**
 * "found X, expected Y", where Y is the `expected` in the schema's metadata, or the close one of the `words` that are possible.
 * What may be a key is not repeated.
 */
function wrongValue(
  { expected = "another value", secret: isSecret = false }: Description = {},
  value: unknown,
  words: readonly string[] = [],
): string {
  if (value === undefined) {
    return `required key missing (expected ${expected})`;
  }
  const hint = typeof value === "string" ? didYouMean(value, words) : "";
  return `found ${isSecret ? describeKind(value) : describeValue(value)}${hint || `, expected ${expected}`}`;
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

/** What the JSON Schema of a file says of one value, with our own words in it. */
interface Description {
  readonly expected?: string;
  /** What may be a key is not repeated in a message. */
  readonly secret?: boolean;
  readonly properties?: Readonly<Record<string, Description>>;
  readonly additionalProperties?: Description | boolean;
  readonly propertyNames?: Description;
  readonly items?: Description;
  readonly anyOf?: readonly Description[];
}

// JSON Schema as zod makes it, of which `Description` has what is read here.
const descriptionOf = memoize(
  (file: z.ZodType) => z.toJSONSchema(file, { io: "input", unrepresentable: "any" }) as Description,
);

function descriptionAt(file: z.ZodType, path: Path): Description | undefined {
  const found = path.reduce(partOf, descriptionOf(file) as Description | undefined);
  // A value that may be null is described by what else it may be.
  return found?.expected === undefined ? (found?.anyOf?.find(({ expected }) => expected) ?? found) : found;
}

function partOf(described: Description | undefined, step: string | number): Description | undefined {
  const { additionalProperties, anyOf = [], items, properties } = described ?? {};
  const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const own = typeof step === "number" ? items : (properties?.[step] ?? others);
  return own ?? anyOf.map((one) => partOf(one, step)).find((part) => part !== undefined);
}

function keysOf({ anyOf = [], properties = {} }: Description = {}): readonly string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(keysOf)];
}
