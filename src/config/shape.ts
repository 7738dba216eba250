import { z } from "zod";
import { memoize } from "../core/model/memoize.ts";
import { nearMiss } from "../core/text/near-miss.ts";
import type { Spot } from "./problems.ts";
import type { Path } from "./yaml.ts";

type Schema = z.core.$ZodType;

/** A part of a file, parsed entry by entry; a broken entry is null, so that references to it stay silent. */
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
  file: File,
  value: unknown,
  top: Spot,
): EntriesOf<File> {
  const names = Object.keys(file.shape);
  const outline = z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
  if (value !== undefined) {
    parseWith(outline, value, top, file);
  }
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  const sections = new Map<string, unknown>(Object.entries(isMap ? value : {}));
  // The cases of `parseInner` are those of `Entries`.
  return Object.fromEntries(
    Object.entries<Schema>(file.shape).map(([name, section]) => [
      name,
      isMap ? parseInner(section, sections.get(name), top.at(name), file) : null,
    ]),
  ) as EntriesOf<File>;
}

/** Parses a whole file. Null: problems were added. */
export function parseWhole<File extends z.ZodType>(
  file: File,
  value: unknown,
  top: Spot,
): z.output<File> | null {
  return parseInner(file, value, top, file) as z.output<File> | null;
}

/** Places in an entry. */
const TAKES_VARIABLES =
  /^(?:(?:chains\.[^.]+\.)?(?:url|headers\..+)|status\.url|rpc\.\d+(?:\.url|\.headers\..+)?)$/;

/** Parses a part of a file. */
function parseInner(schema: Schema, value: unknown, spot: Spot, file: z.ZodType): unknown {
  // zod's union of all its schemas, which its functions take as their base class.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "default":
      return parseInner(def.innerType, value === undefined ? def.defaultValue : value, spot, file);
    case "array": {
      const list = parseWith(new z.ZodArray({ ...def, element: z.unknown() }), value, spot, file);
      return Array.isArray(list)
        ? list.map((item: unknown, index) => parseInner(def.element, item, spot.at(index), file))
        : null;
    }
    case "record": {
      const shell = new z.ZodRecord({ ...def, keyType: z.string(), valueType: z.unknown() });
      const entries = parseWith(shell, value, spot, file) as Record<string, unknown> | null;
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
    default:
      for (const inner of pathsOfVariables(value, [])) {
        if (!TAKES_VARIABLES.test(inner.join("."))) {
          spot.at(...inner).add(`found \${…}, which works only in url, headers and rpc`);
        }
      }
      return parseWith(schema, value, spot, file);
  }
}

function parseWith(schema: Schema, value: unknown, spot: Spot, file: z.ZodType): unknown {
  const { data, error } = z.core.safeParse(schema, value, { reportInput: true });
  for (const issue of error?.issues ?? []) {
    addIssue(issue, spot, file);
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

function addIssue(issue: z.core.$ZodIssue, top: Spot, file: z.ZodType): void {
  const spot = top.at(...issue.path.map((step) => (typeof step === "number" ? step : String(step))));
  const described = descriptionAt(file, spot.path);
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) {
      spot.at(key).add(() => unknownKey(key, keysOf(described)), "key");
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
    spot.add(() => {
      const meant = meantBy(issue);
      // As with an unknown key, a near miss says more than the whole list.
      return meant === "" ? messageOf(issue, described) : `found ${describeValue(issue.input)}${meant}`;
    });
  }
}

/** The `message` of an issue with the parameter `own` is a check's own; zod's are for programmers. */
function messageOf(issue: z.core.$ZodIssue, described: Description | undefined): string {
  if (issue.code === "custom" && issue.params?.["own"] === true) {
    return issue.message;
  }
  const isNever = issue.code === "invalid_type" && issue.expected === "never";
  return isNever ? "not supported by Synclag" : wrongValue(described, issue.input);
}

/** The word of a closed list that is close to what was found. Another number, as in TLS14, is no slip of the finger. */
function meantBy(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_value" || typeof issue.input !== "string") {
    return "";
  }
  const wordOf = (text: string) => text.replace(/\d/g, "");
  const typed = issue.input;
  return didYouMean(
    typed,
    issue.values.map(String).filter((value) => wordOf(value) !== wordOf(typed)),
  );
}

function isOtherType({ path, code }: z.core.$ZodIssue): boolean {
  return path.length === 0 && code === "invalid_type";
}

/** "found X, expected Y", where Y is the `expected` in the schema's metadata. What may be a key is not repeated. */
function wrongValue(described: Description | undefined, value: unknown): string {
  const { expected = "another value", secret: isSecret } = described ?? {};
  if (value === undefined) {
    return `required key missing (expected ${expected})`;
  }
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
  /** Where no value is accepted: the key is not supported. */
  readonly not?: unknown;
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
  const supported = Object.entries(properties).filter(([, { not }]) => not === undefined);
  return [...supported.map(([key]) => key), ...anyOf.flatMap(keysOf)];
}
