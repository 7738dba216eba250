import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { Sections } from "./fleet.ts";
import type { ParseOptions } from "./parse.ts";
import type { Problems } from "./problems.ts";
import { ConfigFile, IncludedFile } from "./schema.ts";
import { describeValue, parseSections, sectionsIn } from "./shape.ts";
import { readYaml, type YamlFile } from "./yaml.ts";

/** Parses the main file and those that it includes, as one. @throws {ConfigError} If one of them cannot be read. */
export function readSections(yaml: YamlFile, problems: Problems, options: ParseOptions): Sections {
  const main = sectionsIn(ConfigFile, yaml, problems.topOf(yaml));
  if (main === null) {
    throw problems.toError();
  }
  const { include } = parseSections(ConfigFile.pick({ include: true }), main, []);
  const texts = new Map<string, string | null>();
  for (const { value: pattern, spot } of include ?? []) {
    try {
      for (const path of pathsOf(pattern ?? "", options)) {
        texts.set(path, options.readFile(path));
      }
    } catch (error) {
      texts.set(String(pattern), null);
      spot.add(`cannot read ${describeValue(pattern)}: ${whyUnreadable(error)}`);
    }
  }
  const files = Array.from(texts, ([path, text]) => {
    const included = text === null ? null : readYaml(text, path);
    return included && sectionsIn(IncludedFile, included, problems.topOf(included));
  });
  const readable = files.filter((file) => file !== null);
  const sections = parseSections(ConfigFile, main, readable);
  if (readable.length < files.length) {
    throw problems.toError();
  }
  return sections;
}

/** The paths that match a pattern of `include`, without the main file. @throws {Error} If there are none. */
function pathsOf(pattern: string, { file, listFiles = () => [] }: ParseOptions): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(dirname(file), pattern);
  const name = basename(path);
  if (!name.includes("*")) {
    return [path];
  }
  // As in a shell, a leading dot is not matched: a ConfigMap is mounted with folders such as ..data.
  const regex = name.replace(/[.+^$()[\]{}?|\\]/g, String.raw`\$&`).replaceAll("*", ".*");
  const names = listFiles(dirname(path), new RegExp(`^(?!\\.)${regex}$`));
  const paths = names.map((one) => join(dirname(path), one)).filter((one) => one !== normalize(file));
  if (paths.length === 0) {
    throw new Error("no file matches");
  }
  return paths;
}
