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
  const { chains, budgets, protocols, maintenance, parity } = part;
  return {
    ...main,
    chains: mergeMaps(main.chains, chains),
    budgets: mergeMaps(main.budgets, budgets),
    protocols: mergeLists(main.protocols, protocols),
    maintenance: concat(main.maintenance, maintenance),
    parity: concat(main.parity, parity),
  };
}

type EntryMap<T> = ReadonlyMap<string, Entry<T>> | null;

function mergeMaps<T>(known: EntryMap<T> | undefined, part: EntryMap<T> | undefined): EntryMap<T> {
  const merged = new Map(known);
  for (const [name, entry] of part ?? []) {
    const first = merged.get(name);
    if (first === undefined) {
      merged.set(name, entry);
    } else {
      entry.spot.add(`listed twice, first at ${first.spot.where}`, "key");
    }
  }
  return known === null || part === null ? null : merged;
}

type ListMap = Sections["protocols"];

function mergeLists(known: ListMap, part: ListMap): ListMap {
  const names = new Set([...(known?.keys() ?? []), ...(part?.keys() ?? [])]);
  return known === null || part === null
    ? null
    : new Map(
        [...names].map((name) => [name, concat(known?.get(name) ?? undefined, part?.get(name) ?? undefined)]),
      );
}

/** Null: one of them is broken. */
function concat<T>(known: readonly T[] | null | undefined, part: readonly T[] | null | undefined) {
  return known === null || part === null ? null : [...(known ?? []), ...(part ?? [])];
}
