import { dirname, isAbsolute, join, normalize } from "node:path";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { Sections } from "./fleet.ts";
import type { ParseOptions } from "./parse.ts";
import type { Problems } from "./problems.ts";
import { IncludedFile } from "./schema.ts";
import { describeValue, type Entry, parseSections } from "./shape.ts";
import { readYaml, type YamlFile } from "./yaml.ts";

/** Adds the sections of the included files to those of the main file. @throws {ConfigError} If a file cannot be read. */
export function withIncludes(main: Sections, problems: Problems, options: ParseOptions): Sections {
  const files = new Map<string, YamlFile>();
  let isComplete = true;
  for (const { value: pattern, spot } of main.include ?? []) {
    try {
      for (const path of pathsOf(pattern ?? "", options)) {
        files.set(path, readYaml(options.readFile(path), path));
      }
    } catch (error) {
      isComplete = false;
      spot.add(`cannot read ${describeValue(pattern)}: ${whyUnreadable(error)}`);
    }
  }
  let merged = main;
  for (const yaml of files.values()) {
    const part = parseSections(IncludedFile, yaml, problems);
    isComplete &&= part !== null;
    merged = mergedSections(merged, part ?? {});
  }
  if (!isComplete) {
    throw problems.toError();
  }
  return merged;
}

/** The paths that match a pattern of `include`, without the main file. @throws {Error} If there are none. */
function pathsOf(pattern: string, { file, listFiles = () => [] }: ParseOptions): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(dirname(file), pattern);
  const [folder, name] = [dirname(path), path.slice(path.lastIndexOf("/") + 1)];
  if (!name.includes("*")) {
    return [path];
  }
  // As in a shell, a leading dot is not matched: a ConfigMap is mounted with folders such as ..data.
  const parts = name.split("*").map((part) => part.replace(/[.+^$()[\]{}?|\\]/g, String.raw`\$&`));
  const names = listFiles(folder, new RegExp(`^(?!\\.)${parts.join(".*")}$`));
  const paths = names.map((one) => join(folder, one)).filter((one) => one !== normalize(file));
  if (paths.length === 0) {
    throw new Error("no file matches");
  }
  return paths;
}

/** A section or a part of it, as it is parsed. */
type Part = Entry<unknown> | readonly Part[] | ReadonlyMap<string, Part> | null | undefined;
type Parts = Readonly<Record<string, Part>>;

/** The sections of both files, of which the first has all. */
function mergedSections<Known extends Parts>(known: Known, others: Parts) {
  const names = Object.keys(known);
  // Two parts of one shape make one of that shape.
  return Object.fromEntries(names.map((name) => [name, merged(known[name], others[name])])) as Known;
}

/** Joins lists and maps. An entry of a map that is there already is a problem. */
function merged(known: Part, other: Part): Part {
  if (known === undefined || other === undefined) {
    return other === undefined ? known : other;
  }
  if (isList(known) || isList(other)) {
    return [known, other].flatMap((list) => (isList(list) ? list : []));
  }
  if (known === null || other === null) {
    return null;
  }
  if ("spot" in known || "spot" in other) {
    const [first, second] = [known, other].filter((part) => "spot" in part);
    second?.spot.add(`listed twice, first at ${first?.spot.where}`, "key");
    return known;
  }
  return new Map([
    ...known,
    ...Array.from(other, ([name, part]) => [name, merged(known.get(name), part)] as const),
  ]);
}

function isList(part: Part): part is readonly Part[] {
  return Array.isArray(part);
}
