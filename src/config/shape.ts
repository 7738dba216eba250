import { z } from "zod";
import { groupBy } from "../core/model/group-by.ts";
import { didYouMean, nearMiss } from "../core/text/near-miss.ts";
import type { Path, Spot } from "./problems.ts";

type Schema = z.core.$ZodType;

/** A value and where it is written. Null: the value is broken, and references to it are not reported as unknown. */
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

/** A value and where it is written, before it is parsed. The value is undefined if the file lacks it. */
export interface Written<T = unknown> {
  readonly value: T;
  readonly spot: Spot;
}

/** The sections of a file. Unknown sections are problems. Null: the file is not a map, or not valid YAML. */
export function sectionsIn(file: z.ZodObject, { value: written, spot }: Written) {
  const map = z.record(z.string(), z.unknown()).meta(file.meta() ?? {});
  const value = written === undefined ? null : parseWhole(map, written, spot);
  const known = Object.keys(file.shape);
  let sections = value ?? {};
  for (const name of Object.keys(sections).filter((one) => !known.includes(one))) {
    refuseKey(name, known, spot);
    sections = changeKey(sections, [], name, nearMiss(name, known));
  }
  return value === null ? null : { value: sections, spot };
}

/** Parses a file and its included files as one. Maps and lists are parsed entry by entry, so that no entry hides problems of another. */
export function parseSections<File extends z.ZodObject>(
  file: File,
  main: Written<Readonly<Record<string, unknown>>>,
  included: readonly Written<Readonly<Record<string, unknown>>>[],
): EntriesOf<File> {
  const sections = Object.entries<Schema>(file.shape).map(([name, schema]) => {
    const parts = [main, ...included].map(({ value, spot }) => ({ value: value[name], spot: spot.at(name) }));
    const present = parts.filter(({ value }) => value !== undefined);
    return [name, parseParts(schema, present, main.spot.at(name))];
  });
  // `parseParts` and `Entries` distinguish the same cases.
  return Object.fromEntries(sections) as EntriesOf<File>;
}

/** Parses the values that one or more files give for one key. Lists and maps are joined; any other second value is a problem. */
function parseParts(schema: Schema, given: readonly Written[], spot: Spot): unknown {
  // Zod passes schemas as their base class; this is its union of all schemas.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [first = { value: undefined, spot }, ...others] = given;
  const parts = [first, ...others];
  switch (def.type) {
    case "default":
      return parseParts(def.innerType, given.length > 0 ? given : [{ value: def.defaultValue, spot }], spot);
    case "optional":
      return given.length > 0 ? parseParts(def.innerType, given, spot) : undefined;
    case "array":
      return parseLists(schema, def, parts);
    case "record":
      return parseMaps(schema, def, parts, spot);
    default:
      for (const other of others) {
        other.spot.add(`listed twice, first at ${first.spot.where}`, "key");
      }
      return { value: parseWhole(schema, first.value, first.spot), spot: first.spot };
  }
}

/** Checks first that each value is a list of the allowed length, then parses the items. Null: all lists are broken. */
function parseLists(schema: Schema, def: z.core.$ZodArrayDef, parts: readonly Written[]) {
  const shell = new z.ZodArray({ ...def, element: z.unknown() }).meta(z.globalRegistry.get(schema) ?? {});
  const lists = parts.map((part) => ({ ...part, items: parseWhole(shell, part.value, part.spot) }));
  const items = lists.flatMap(({ items: own, spot }) =>
    (own ?? []).map((value, index) => parseParts(def.element, [{ value, spot: spot.at(index) }], spot)),
  );
  return lists.every((list) => list.items === null) ? null : items;
}

/** Checks first that each value is a map, then parses the entries. Null: a value is broken, so its entries are unknown. */
function parseMaps(schema: Schema, def: z.core.$ZodRecordDef, parts: readonly Written[], spot: Spot) {
  const map = new z.ZodRecord({ ...def, keyType: z.string(), valueType: z.unknown() }).meta(
    z.globalRegistry.get(schema) ?? {},
  );
  const maps = parts.map((part) => ({ ...part, entries: parseWhole(map, part.value, part.spot) }));
  const entries = maps.flatMap((one) =>
    Object.entries(one.entries ?? {}).map(([name, value]) => ({ name, value, spot: one.spot.at(name) })),
  );
  for (const entry of entries) {
    for (const { message } of z.core.safeParse(def.keyType, entry.name, PARAMS).error?.issues ?? []) {
      entry.spot.add(message, "key");
    }
  }
  const byName = [...groupBy(entries, ({ name }) => name)];
  return maps.some((one) => one.entries === null)
    ? null
    : new Map(byName.map(([name, values]) => [name, parseParts(def.valueType, values, spot.at(name))]));
}

/**
 * Parses a value as a whole. An unknown key is a problem. If it resembles a key that the map lacks, it is read as that key, so
 * that the missing key is not reported too. Broken values of the map's `apart` keys are left out. Null: another value is broken,
 * or the map is invalid without the values left out.
 */
export function parseWhole<S extends Schema>(schema: S, value: unknown, spot: Spot): z.output<S> | null {
  let known = value;
  let { data, error } = z.core.safeParse(schema, known, PARAMS);
  for (let unknown = unknownKeysIn(error); unknown.length > 0; unknown = unknownKeysIn(error)) {
    for (const { path, key, expected } of unknown) {
      refuseKey(key, expected, spot.at(...path));
      known = changeKey(known, path, key, nearMiss(key, expected));
    }
    ({ data, error } = z.core.safeParse(schema, known, PARAMS));
  }
  const issues = issuesIn(error);
  for (const { path, message } of issues) {
    spot.at(...path).add(message);
  }
  const { apart = [] } = z.globalRegistry.get(writtenSchema(schema)) ?? {};
  if (issues.length > 0 && issues.every(({ path: [key] }) => apart.includes(String(key)))) {
    // Leaves out the broken values inside an `apart` key. If the map is still invalid, leaves out the whole key.
    const [inner, outer] = [issues.map(({ path }) => path), issues.map(({ path }) => path.slice(0, 1))];
    const sound = [inner, outer].map((paths) => z.core.safeParse(schema, withoutPaths(known, paths), PARAMS));
    return sound.find(({ success }) => success)?.data ?? null;
  }
  return data ?? null;
}

/** The schema of the written value: without a default or a transformation. */
function writtenSchema(schema: Schema): Schema {
  if (schema instanceof z.ZodPipe) {
    return writtenSchema(schema.in);
  }
  return schema instanceof z.ZodPrefault ? writtenSchema(schema.def.innerType) : schema;
}

interface Issue {
  readonly path: Path;
  readonly message: string;
  /** The unknown keys of a map. */
  readonly keys: readonly string[] | null;
}

/** The issues of an error. For a union, only the alternative with the type of the value counts. */
function issuesIn(error: z.core.$ZodError | undefined): readonly Issue[] {
  const flat = (issue: z.core.$ZodIssue, above: Path): readonly Issue[] => {
    const path = [...above, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))];
    const branch = branchOf(issue);
    const keys = issue.code === "unrecognized_keys" ? issue.keys : null;
    return branch?.flatMap((inner) => flat(inner, path)) ?? [{ path, message: issue.message, keys }];
  };
  return (error?.issues ?? []).flatMap((issue) => flat(issue, []));
}

function branchOf(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] | undefined {
  if (issue.code === "invalid_key") {
    return issue.issues;
  }
  return issue.code === "invalid_union"
    ? issue.errors.find((issues) => !issues.some(isOtherType))
    : undefined;
}

function unknownKeysIn(error: z.core.$ZodError | undefined) {
  return issuesIn(error).flatMap(({ path, message, keys }) =>
    (keys ?? []).map((key) => ({ path, key, expected: message.split(", ") })),
  );
}

function withoutPaths(value: unknown, paths: readonly Path[]): unknown {
  return paths.reduce<unknown>(
    (rest, path) => changeKey(rest, path.slice(0, -1), String(path.at(-1)), null),
    value,
  );
}

/** Copies a value, and removes `key` from the map at a path. If the map lacks `name`, `key` is renamed to `name` instead. */
function changeKey(value: unknown, [step, ...rest]: Path, key: string, name: string | null) {
  const entries = Object.entries(value ?? {});
  const renamed = name === null || entries.some(([own]) => own === name) ? [] : [name];
  const kept = entries.flatMap(([own, part]: readonly [string, unknown]) => {
    if (step === undefined && own === key) {
      return renamed.map((other) => [other, part] as const);
    }
    return [[own, own === String(step) ? changeKeyInside(part, rest, key, name) : part] as const];
  });
  return Object.fromEntries(kept);
}

function changeKeyInside(value: unknown, path: Path, key: string, name: string | null): unknown {
  const [step, ...rest] = path;
  return Array.isArray(value)
    ? value.map((item: unknown, index) => (index === step ? changeKeyInside(item, rest, key, name) : item))
    : changeKey(value, path, key, name);
}

function refuseKey(key: string, known: readonly string[], map: Spot): void {
  const hint = didYouMean(key, known) || `; expected ${known.join(", ")}`;
  map.at(key).add(`unknown key "${key}"${hint}`, "key");
}

function isOtherType({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && code === "invalid_type";
}

declare module "zod" {
  interface GlobalMeta {
    /** The expected value, as error messages name it. */
    readonly expected?: string;
    /** Whether the value may be a secret, which no message repeats. */
    readonly secret?: boolean;
    /** The keys of a map that are checked alone. If their values are broken, the rest is still checked. */
    readonly apart?: readonly string[];
  }
}

/**
 * The message of an issue: "found X, expected Y", or a hint at a similar word. For unknown keys it is the list of known keys,
 * which `refuseKey` uses.
 */
const PARAMS: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: true,
  error({ code, input, schema, ...issue }) {
    if (code === "unrecognized_keys") {
      return schema instanceof z.ZodObject ? Object.keys(schema.shape).join(", ") : "";
    }
    const { expected = "another value", secret = false } = (schema && z.globalRegistry.get(schema)) ?? {};
    if (input === undefined) {
      return `required key missing (expected ${expected})`;
    }
    const words =
      "values" in issue && Array.isArray(issue.values)
        ? issue.values.filter((value) => typeof value === "string")
        : [];
    const hint = typeof input === "string" ? didYouMean(input, words) : "";
    return `found ${secret ? describeKind(input) : describeValue(input)}${hint || `, expected ${expected}`}`;
  },
};

const MAX_SHOWN = 80;
/** A URL that may have a password. */
const WITH_USER = /:\/\/[^/?#]*@/;

/** A value as error messages show it: scalars as they are, maps and lists by their kind. */
export function describeValue(value: unknown): string {
  if (typeof value === "string" && WITH_USER.test(value)) {
    return "a URL with a user";
  }
  if (typeof value === "string" && value !== "") {
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  return typeof value === "number" || typeof value === "boolean" ? String(value) : describeKind(value);
}

/** The kind of a value, without its content, which may be a secret. */
function describeKind(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return value === null || value === "" ? "an empty value" : `a ${typeof value}`;
  }
  const kind = Array.isArray(value) ? "list" : "map";
  return Object.keys(value).length === 0 ? `an empty ${kind}` : `a ${kind}`;
}

/** Adds a problem if a name is unknown. `known`: the names that exist. Null: their section is broken, so nothing is checked. */
export function checkKnown(
  what: string,
  name: string | null | undefined,
  known: Pick<ReadonlySet<string>, "has" | "keys"> | null | undefined,
  spot: Spot,
  at: "key" | "value" = "value",
): void {
  if (typeof name === "string" && known?.has(name) === false) {
    spot.add(`unknown ${what} "${name}"${didYouMean(name, [...known.keys()])}`, at);
  }
}
