import { z } from "zod";
import { nearMiss } from "../core/text/near-miss.ts";
import type { Problems, Spot } from "./problems.ts";
import type { YamlFile } from "./yaml.ts";

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

/** Parses a file section by section, and its maps and lists entry by entry. Null: it is no map, or cannot be read. */
export function parseSections<File extends z.ZodObject>(
  file: File,
  yaml: YamlFile,
  problems: Problems,
): EntriesOf<File> | null {
  const top = problems.topOf(yaml);
  const names = Object.keys(file.shape);
  const outline = z
    .strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])))
    .meta({ ...file.meta() });
  const sections = yaml.readable ? parseWhole(outline, yaml.value, top) : null;
  // The cases of `parseInner` are those of `Entries`.
  return (
    sections &&
    (Object.fromEntries(
      Object.entries<Schema>(file.shape).map(([name, section]) => [
        name,
        parseInner(section, sections[name], top.at(name)),
      ]),
    ) as EntriesOf<File>)
  );
}

/** Parses a part of a file. */
function parseInner(schema: Schema, value: unknown, spot: Spot): unknown {
  // zod's union of all its schemas, which its functions take as their base class.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "default") {
    return parseInner(def.innerType, value === undefined ? def.defaultValue : value, spot);
  }
  if (def.type === "optional") {
    return value === undefined ? undefined : parseInner(def.innerType, value, spot);
  }
  if (def.type !== "array" && def.type !== "record") {
    return { value: parseWhole(schema, value, spot), spot };
  }
  // Its own checks, without those of its entries.
  const shell = z.globalRegistry.get(schema) ?? {};
  if (def.type === "array") {
    const list = new z.ZodArray({ ...def, element: z.unknown() }).meta(shell);
    return (
      parseWhole(list, value, spot)?.map((item, index) => parseInner(def.element, item, spot.at(index))) ??
      null
    );
  }
  const map = new z.ZodRecord({ ...def, keyType: z.string(), valueType: z.unknown() }).meta(shell);
  const entries = parseWhole(map, value, spot);
  return (
    entries &&
    new Map(
      Object.entries(entries).map(([name, entry]) => {
        for (const { message } of z.core.safeParse(def.keyType, name, PARAMS).error?.issues ?? []) {
          spot.at(name).add(message, "key");
        }
        return [name, parseInner(def.valueType, entry, spot.at(name))];
      }),
    )
  );
}

/** Parses a value as a whole. Null: problems were added. */
export function parseWhole<S extends Schema>(schema: S, value: unknown, spot: Spot): z.output<S> | null {
  const { data, error } = z.core.safeParse(schema, value, PARAMS);
  const issues = error?.issues ?? [];
  for (const issue of issues) {
    addIssue(issue, spot);
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

function addIssue(issue: z.core.$ZodIssue, top: Spot): void {
  const spot = top.at(...issue.path.map((step) => (typeof step === "number" ? step : String(step))));
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      const hint = didYouMean(key, issue.message.split(", ")) || `; expected ${issue.message}`;
      spot.at(key).add(`unknown key "${key}"${hint}`, "key");
    }
    return;
  }
  // What is wrong with the alternative of the same type is more use than that no alternative fits.
  const branch =
    issue.code === "invalid_union" ? issue.errors.find((issues) => !issues.some(isOtherType)) : undefined;
  for (const inner of branch ?? []) {
    addIssue({ ...inner, path: [...issue.path, ...inner.path] }, top);
  }
  if (branch === undefined) {
    spot.add(issue.message);
  }
}

function isOtherType({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && code === "invalid_type";
}

declare module "zod" {
  interface GlobalMeta {
    /** What a value must be, as messages say it. */
    readonly expected?: string;
    /** Whether it may be a key, which no message repeats. */
    readonly secret?: boolean;
  }
}

/**
 * The message of an issue: "found X, expected Y", where Y is what the schema's metadata say, or a similar word that is allowed.
 * For unknown keys it is the list of the known ones.
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
    const words = "values" in issue && Array.isArray(issue.values) ? issue.values.map(String) : [];
    const hint = typeof input === "string" ? didYouMean(input, words) : "";
    return `found ${secret ? describeKind(input) : describeValue(input)}${hint || `, expected ${expected}`}`;
  },
};

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
