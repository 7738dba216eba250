import { dirname, isAbsolute, join, normalize } from "node:path";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { ParseOptions } from "./parse.ts";
import { describeValue, didYouMean } from "./shape.ts";
import { type Path, readYaml, type YamlFile, type YamlProblem } from "./yaml.ts";

/** What an included file may have. */
const SECTIONS = ["chains", "protocols", "budgets", "maintenance", "parity"];
const EXPECTED = `expected a map with ${SECTIONS.join(", ")}`;

/** The sections, and their entries by name. */
const MERGED_DEPTH = 2;

/** Reads chains.yaml and the files that it includes as one file; each position names its own file. */
export function readWithIncludes(text: string, options: ParseOptions): YamlFile {
  const main = readYaml(text, options.file);
  const patterns = recordOf(main.value)["include"];
  if (!Array.isArray(patterns)) {
    return main;
  }
  const whole = new MergedFile(main);
  const seen = new Set<string>();
  // Anything but a text is a problem of the schema.
  for (const [index, pattern] of patterns.entries()) {
    if (typeof pattern !== "string") {
      continue;
    }
    try {
      const files = filesOf(pattern, options);
      if (files.length === 0) {
        whole.refuse(index, `no file matches ${describeValue(pattern)}`);
      }
      for (const file of files.filter((one) => !seen.has(one))) {
        seen.add(file);
        whole.add(readYaml(options.readFile(file), file));
      }
    } catch (error) {
      whole.refuse(index, `cannot read ${describeValue(pattern)}: ${whyUnreadable(error)}`);
    }
  }
  return whole;
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

interface Place {
  readonly yaml: YamlFile;
  readonly path: Path;
}

/** Files that are merged into the first of them. */
class MergedFile implements YamlFile {
  value: unknown;
  readable: boolean;
  readonly problems: YamlProblem[];
  readonly #main: YamlFile;
  /** Where what was merged in is written, by its path in the whole. */
  readonly #places = new Map<string, Place>();

  constructor(main: YamlFile) {
    this.#main = main;
    this.value = main.value;
    this.readable = main.readable;
    this.problems = [...main.problems];
  }

  /** Adds a problem of an item of `include`. */
  refuse(index: number, message: string): void {
    this.#report({ yaml: this.#main, path: ["include", index] }, message);
    this.readable = false;
  }

  add(yaml: YamlFile): void {
    this.problems.push(...yaml.problems);
    this.readable &&= yaml.readable;
    if (yaml.readable && !isRecord(yaml.value)) {
      this.#report({ yaml, path: [] }, `found ${describeValue(yaml.value)}, ${EXPECTED}`);
    }
    for (const [section, part] of Object.entries(recordOf(yaml.value))) {
      if (SECTIONS.includes(section)) {
        this.value = this.#merged([], this.value, { [section]: part }, yaml);
      } else {
        const hint = didYouMean(section, SECTIONS) || `; ${EXPECTED}`;
        this.#report({ yaml, path: [section] }, `unknown key "${section}" of an included file${hint}`);
      }
    }
  }

  positionOf(path: Path, at: "key" | "value") {
    const place = this.#placeOf(path);
    return place.yaml.positionOf(place.path, at);
  }

  /** What the whole has at a path once it has a part of a file: maps of sections and of entries are merged, lists concatenated. */
  #merged(path: Path, known: unknown, part: unknown, yaml: YamlFile): unknown {
    if (known === undefined) {
      this.#places.set(JSON.stringify(path), { yaml, path });
      return part;
    }
    if (isList(known) && isList(part)) {
      for (const index of part.keys()) {
        this.#places.set(JSON.stringify([...path, known.length + index]), { yaml, path: [...path, index] });
      }
      return [...known, ...part];
    }
    if (isRecord(known) && isRecord(part) && path.length < MERGED_DEPTH) {
      const entries = Object.entries(part).map(([key, entry]) => {
        const former = Object.hasOwn(known, key) ? known[key] : undefined;
        return [key, this.#merged([...path, key], former, entry, yaml)] as const;
      });
      return { ...known, ...Object.fromEntries(entries) };
    }
    const { file, line, column } = this.positionOf(path, "key");
    this.#report({ yaml, path }, `listed twice, first at ${file}:${line}:${column}`);
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
    return { yaml: this.#main, path };
  }

  #report({ yaml, path }: Place, message: string): void {
    this.problems.push({ path, position: yaml.positionOf(path, "key"), message });
  }
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
