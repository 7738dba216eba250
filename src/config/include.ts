import { dirname, isAbsolute, join, normalize } from "node:path";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { Sections } from "./fleet.ts";
import type { ParseOptions } from "./parse.ts";
import type { Problems } from "./problems.ts";
import { IncludedFile } from "./schema.ts";
import { describeValue, type EntriesOf, type Entry, parseSections } from "./shape.ts";
import { readYaml, type YamlFile } from "./yaml.ts";

/** Adds the sections of the included files to those of the main file. Null: a file cannot be read. */
export function withIncludes(main: Sections, problems: Problems, options: ParseOptions): Sections | null {
  const files = (main.include ?? []).map((entry) => readMatches(entry, options));
  const unique = new Map(files.flatMap((matches) => matches ?? []).map((yaml) => [yaml.file, yaml]));
  let merged = main;
  let isRead = !files.includes(null);
  for (const yaml of unique.values()) {
    const top = problems.topOf(yaml);
    const part = yaml.readable ? parseSections(IncludedFile, yaml.value, top) : null;
    isRead &&= part !== null;
    merged = part === null ? merged : mergeSections(merged, part);
  }
  return isRead ? merged : null;
}

/** The files that match a pattern of `include`. Null: a problem was added. */
function readMatches(
  { value: pattern, spot }: Entry<string>,
  options: ParseOptions,
): readonly YamlFile[] | null {
  if (pattern === null) {
    return null;
  }
  try {
    const files = filesOf(pattern, options).map((file) => readYaml(options.readFile(file), file));
    if (files.length === 0) {
      spot.add(`no file matches ${describeValue(pattern)}`);
    }
    return files.length === 0 ? null : files;
  } catch (error) {
    spot.add(`cannot read ${describeValue(pattern)}: ${whyUnreadable(error)}`);
    return null;
  }
}

/** @throws {Error} If the folder cannot be read. */
function filesOf(pattern: string, { file, listFiles = () => [] }: ParseOptions): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(dirname(file), pattern);
  const [folder, name] = [dirname(path), path.slice(path.lastIndexOf("/") + 1)];
  if (!name.includes("*")) {
    return [path];
  }
  // As in a shell, a leading dot is not matched: a ConfigMap is mounted with folders such as ..data.
  const parts = name.split("*").map((part) => part.replace(/[.+^$()[\]{}?|\\]/g, String.raw`\$&`));
  const names = listFiles(folder, new RegExp(`^(?!\\.)${parts.join(".*")}$`));
  return names.map((one) => join(folder, one)).filter((one) => one !== normalize(file));
}

function mergeSections(main: Sections, part: EntriesOf<typeof IncludedFile>): Sections {
  return {
    ...main,
    chains: merge(main.chains, part.chains, first),
    budgets: merge(main.budgets, part.budgets, first),
    protocols: merge(main.protocols, part.protocols, (one, other) => concat(one ?? [], other ?? [])),
    maintenance: concat(main.maintenance, part.maintenance),
    parity: concat(main.parity, part.parity),
  };
}

type MapOf<T> = ReadonlyMap<string, T> | null | undefined;

/** Both maps in one; `join` makes one of two values with the same name. Null: one of them is broken. */
function merge<T>(known: MapOf<T>, part: MapOf<T>, join: (one: T, other: T) => T) {
  if (known === null || part === null) {
    return null;
  }
  const merged = new Map(known);
  for (const [name, value] of part ?? []) {
    const one = merged.get(name);
    merged.set(name, one === undefined ? value : join(one, value));
  }
  return merged;
}

function first<T>(one: Entry<T>, other: Entry<T>): Entry<T> {
  other.spot.add(`listed twice, first at ${one.spot.where}`, "key");
  return one;
}

/** Null: one of them is broken. */
function concat<T>(known: readonly T[] | null | undefined, part: readonly T[] | null | undefined) {
  return known === null || part === null ? null : [...(known ?? []), ...(part ?? [])];
}
