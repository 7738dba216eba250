import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { ConfigFile } from "../src/config/schema.ts";

/** A part of the JSON Schema of chains.yaml, with our own word for the type of a value. */
interface Part {
  readonly description?: string;
  readonly expected?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Part>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Part | boolean;
  readonly items?: Part;
  readonly anyOf?: readonly Part[];
}

const EXAMPLE_FILE = "test/fixtures/config/valid/every-key.yaml";

/** What the keys of a map are, by the map's own key. */
const NAMES: Readonly<Record<string, string>> = {
  budgets: "<name>",
  chains: "<slug>",
  protocols: "<protocol>",
  queries: "<variant>",
};

/** `docs/configuration.md`: every key of chains.yaml, from its schema. */
export function configurationPage(): string {
  const example = readFileSync(EXAMPLE_FILE, "utf8");
  // JSON Schema as zod makes it, of which `Part` has what is read here.
  const schema = z.toJSONSchema(ConfigFile, { io: "input" }) as Part;
  const { required } = schema;
  const sections = Object.entries(schema.properties ?? {}).map(([key, part]) =>
    sectionOf({ properties: { [key]: part }, ...(required && { required }) }, parse(example)),
  );
  return `# chains.yaml, key by key

<!-- Made by \`npm run generate\` from src/config/schema.ts and ${EXAMPLE_FILE}. -->

\`synclag config check\` reports every mistake at once, with line and column; a key that is not listed here is one. \`synclag config schema\` prints the
JSON Schema with which editors complete and check the file. [Your case](your-case.md) has short files for common setups.

- \`\${VAR}\` stands for an environment variable and \`\${file:/path}\` for the content of a file, in \`url\`, \`headers\` and \`rpc\`.
- \`{chain}\`, \`{chain_id}\`, \`{protocol}\` and a chain's own values, such as \`{id}\`, work in \`url\`, \`explorer\`, \`playground\`, \`status\` and \`parity\`.
- In the tables, \`<slug>\` and the like are names that you choose, \`[]\` is each item of a list, and a key without a default may be left out.

## All keys in one file

Most have a default, and most files need few of them.

\`\`\`yaml
${example.replace(/^#.*\n/, "").trimEnd()}
\`\`\`

${sections.join("\n")}`;
}

/** The section of one key of the file. */
function sectionOf(only: Part, example: unknown): string {
  const rows = rowsOf(only, "", [example]);
  const [[title, { description = "" }] = ["", {}]] = Object.entries(only.properties ?? {});
  const [first, ...inner] = rows;
  const listed = inner.length === 0 ? [first] : inner;
  return `## ${title}

${inner.length === 0 ? "" : `${description}\n\n`}| key | value | default | example | meaning |
|---|---|---|---|---|
${listed.join("\n")}
`;
}

/** A row for each key of a part, and for those within it. `examples`: what the file has in its place. */
function rowsOf(
  { properties = {}, required = [] }: Part,
  prefix: string,
  examples: readonly unknown[],
): string[] {
  return Object.entries(properties).flatMap(([key, part]) => {
    const path = `${prefix}${key}`;
    const found = examples.flatMap((one) => (isMap(one) && key in one ? [one[key]] : []));
    if (found.length === 0) {
      throw new RangeError(`Cannot find an example of ${path} in ${EXAMPLE_FILE}`);
    }
    const inner = rowsWithin(part, path, key, found);
    const isRequired = part.default === undefined && required.includes(key);
    const cells = [
      `\`${path}\``,
      part.expected ?? "",
      isRequired ? "required" : code(part.default),
      inner.length > 0 ? "" : code(found[0]),
      part.description ?? "",
    ];
    return [`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`, ...inner];
  });
}

function rowsWithin(part: Part, path: string, key: string, examples: readonly unknown[]): readonly string[] {
  const { additionalProperties, anyOf = [], items, properties } = part;
  if (/\.thresholds$|\.rpc\[\]\.(?:custom|metrics)$/.test(path)) {
    // They are listed elsewhere: in a section of their own, or as keys of an indexer.
    return [];
  }
  const maps = examples.filter(isMap);
  const values =
    typeof additionalProperties === "object" && properties === undefined ? additionalProperties : {};
  return [
    ...(properties === undefined ? [] : rowsOf(part, `${path}.`, maps)),
    ...(items === undefined ? [] : rowsWithin(items, `${path}[]`, "", examples.filter(Array.isArray).flat())),
    ...(values === additionalProperties
      ? rowsWithin(values, `${path}.${NAMES[key] ?? "<name>"}`, "", maps.flatMap(Object.values))
      : []),
    ...anyOf.flatMap((one) => rowsWithin(one, path, key, examples)),
  ];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as the file writes it; empty where there is none. */
function code(value: unknown): string {
  return value === undefined
    ? ""
    : `\`${stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim()}\``;
}
