import { dirname, isAbsolute, join, normalize } from "node:path";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { ParseOptions } from "./parse.ts";
import { describeValue, didYouMean } from "./shape.ts";
import { type Path, type Position, readYaml, type YamlFile, type YamlProblem } from "./yaml.ts";

/** What an included file may have. */
const SECTIONS = ["chains", "protocols", "budgets", "maintenance", "parity"];
const EXPECTED = `expected a map with ${SECTIONS.join(", ")}`;

/** The sections, and their entries by name. */
const MERGED_DEPTH = 2;

/** A file, and where it is: as the user gave it, or relative to that. */
interface Source {
  readonly file: string;
  readonly yaml: YamlFile;
}

interface Place {
  readonly source: Source;
  readonly path: Path;
}

/** Reads chains.yaml and the files that it includes as one file; each position names its own file. */
export function readWithIncludes(text: string, options: ParseOptions): YamlFile {
  const main = readYaml(text);
  const patterns = recordOf(main.value)["include"];
  if (!(Array.isArray(patterns) && patterns.length > 0)) {
    return main;
  }
  const merge = new Merge({ file: options.file, yaml: main });
  const seen = new Set<string>();
  for (const [index, pattern] of patterns.entries()) {
    // Any other value is a problem of the schema.
    const sources = typeof pattern === "string" ? readMatches(pattern, options) : [];
    if (typeof sources === "string") {
      merge.refuse(index, sources);
      continue;
    }
    for (const { file, text: own } of sources.filter((one) => !seen.has(one.file))) {
      seen.add(file);
      merge.add({ file, yaml: readYaml(own) });
    }
  }
  return merge.result();
}

/** The files that match a pattern, sorted by name, or the reason why they cannot be read. */
function readMatches(pattern: string, options: ParseOptions) {
  try {
    const files = filesOf(pattern, options);
    return typeof files === "string" ? files : files.map((file) => ({ file, text: options.readFile(file) }));
  } catch (error) {
    return `cannot read ${describeValue(pattern)}: ${whyUnreadable(error)}`;
  }
}

/** The paths, or the reason why no path matches. @throws {Error} If the folder cannot be read. */
function filesOf(pattern: string, { file, listFiles = () => [] }: ParseOptions): readonly string[] | string {
  const path = isAbsolute(pattern) ? pattern : join(dirname(file), pattern);
  const [folder, name] = [dirname(path), path.slice(path.lastIndexOf("/") + 1)];
  if (/[?[\]{}]|\*\*/.test(pattern) || folder.includes("*")) {
    const expected = "expected a path with * in its last part only, such as fleet/*.yaml";
    return `found ${describeValue(pattern)}, ${expected}`;
  }
  if (!name.includes("*")) {
    return [path];
  }
  // As in a shell, a leading dot is not matched: a ConfigMap is mounted with folders such as ..data.
  const parts = name.split("*").map((part) => part.replace(/[.+^$()|\\]/g, String.raw`\$&`));
  const names = listFiles(folder, new RegExp(`^(?!\\.)${parts.join(".*")}$`));
  const found = names.map((one) => join(folder, one)).filter((one) => one !== normalize(file));
  return found.length === 0 ? `no file matches ${describeValue(pattern)}` : found;
}

/** Files that are merged into the first of them. */
class Merge {
  readonly #main: Source;
  #value: unknown;
  readonly #problems: YamlProblem[];
  #isReadable: boolean;
  /** Where what was merged in is written, by its path in the whole. */
  readonly #places = new Map<string, Place>();

  constructor(main: Source) {
    this.#main = main;
    this.#value = main.yaml.value;
    this.#problems = [...main.yaml.problems];
    this.#isReadable = main.yaml.readable;
  }

  /** Adds a problem of an item of `include`. References into absent files are then not checked. */
  refuse(index: number, message: string): void {
    this.#report({ source: this.#main, path: ["include", index] }, message);
    this.#isReadable = false;
  }

  add(source: Source): void {
    const { file, yaml } = source;
    for (const { position, ...problem } of yaml.problems) {
      this.#problems.push({ ...problem, position: { ...position, file } });
    }
    this.#isReadable &&= yaml.readable;
    if (!yaml.readable) {
      return;
    }
    if (!isRecord(yaml.value)) {
      this.#report({ source, path: [] }, `found ${describeValue(yaml.value)}, ${EXPECTED}`);
    }
    const sections = Object.entries(recordOf(yaml.value));
    for (const [section] of sections.filter(([name]) => !SECTIONS.includes(name))) {
      this.#report({ source, path: [section] }, whyNotIncluded(section, this.#main.file));
    }
    const usable = Object.fromEntries(sections.filter(([name]) => SECTIONS.includes(name)));
    this.#value = this.#merged([], this.#value, usable, source);
  }

  result(): YamlFile {
    return {
      value: this.#value,
      problems: this.#problems,
      readable: this.#isReadable,
      positionOf: (path, at) => positionIn(this.#placeOf(path), at),
      sourceOf: (path) => {
        const place = this.#placeOf(path);
        return place.source.yaml.sourceOf(place.path);
      },
    };
  }

  /** What the whole has at a path once it has a part of a file: maps of sections and of entries are merged, lists concatenated. */
  #merged(path: Path, known: unknown, part: unknown, source: Source): unknown {
    if (known === undefined) {
      this.#places.set(JSON.stringify(path), { source, path });
      return part;
    }
    if (isList(known) && isList(part)) {
      for (const index of part.keys()) {
        const place = { source, path: [...path, index] };
        this.#places.set(JSON.stringify([...path, known.length + index]), place);
      }
      return [...known, ...part];
    }
    if (isRecord(known) && isRecord(part) && path.length < MERGED_DEPTH) {
      const entries = Object.entries(part).map(([key, entry]) => {
        const former = Object.hasOwn(known, key) ? known[key] : undefined;
        return [key, this.#merged([...path, key], former, entry, source)] as const;
      });
      return { ...known, ...Object.fromEntries(entries) };
    }
    const { file, line, column } = positionIn(this.#placeOf(path), "key");
    const first = `${file}:${line}:${column}`;
    const isAlike = isList(known) === isList(part) && isRecord(known) === isRecord(part);
    const expected = isList(known) ? "a list" : "a map";
    const other = `found ${describeValue(part)}, expected ${expected} as at ${first}`;
    this.#report({ source, path }, isAlike ? `listed twice, first at ${first}` : other);
    return known;
  }

  /** Where a value is written. */
  #placeOf(path: Path): Place {
    for (let length = path.length; length > 0; length -= 1) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) {
        return { ...place, path: [...place.path, ...path.slice(length)] };
      }
    }
    return { source: this.#main, path };
  }

  #report(place: Place, message: string): void {
    this.#problems.push({ path: place.path, position: positionIn(place, "key"), message });
  }
}

function positionIn({ source: { file, yaml }, path }: Place, at: "key" | "value"): Position {
  return { ...yaml.positionOf(path, at), file };
}

function whyNotIncluded(section: string, main: string): string {
  return section === "include"
    ? `an included file cannot include others; list them in ${main}`
    : `unknown key "${section}" of an included file${didYouMean(section, SECTIONS) || `; ${EXPECTED}`}`;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
