import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { DURATION, LIMIT } from "../src/config/quantities.ts";
import { ConfigFile } from "../src/config/schema.ts";
import { DIALECTS } from "../src/dialects/families.ts";

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

/** Placeholders for the keys of a map, by the map's own key. */
const NAMES: Readonly<Record<string, string>> = {
  budgets: "<name>",
  chains: "<slug>",
  protocols: "<protocol>",
  probes: "<name>",
  queries: "<variant>",
};

/** Kinds of values that many keys have: their names on the page, and what they are in the schema. */
const KINDS: Readonly<Record<string, string>> = {
  duration: DURATION,
  limit: LIMIT,
  schedule: "auto, or six fields, seconds first, such as */15 * * * * *",
  id: "a name of lower-case letters, digits and dashes, starting with a letter or digit",
  link: "an http:// or https:// URL without user, ? and #",
  URL: "an http:// or https:// URL",
  path: "a path such as indexer.blocks.0.number",
  headers: "a map of header names and values",
  dialect: Object.keys(DIALECTS)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or "),
};

/** `docs/configuration.md`: every key of chains.yaml, from its schema. */
export function configurationPage(): string {
  const example = readFileSync(EXAMPLE_FILE, "utf8");
  // JSON Schema as zod makes it; `Part` has the keys that are read here.
  const schema = z.toJSONSchema(ConfigFile, { io: "input" }) as Part;
  const { required } = schema;
  const sections = Object.entries(schema.properties ?? {}).map(([key, part]) =>
    sectionOf({ properties: { [key]: part }, ...(required && { required }) }, parse(example)),
  );
  return `# chains.yaml, key by key

<!-- Made by \`npm run generate\` from src/config/schema.ts and ${EXAMPLE_FILE}. -->

What can chains.yaml say?

\`synclag config check\` reports every mistake with line and column, unknown keys included. \`synclag config
schema\` prints a JSON Schema for editors. [Your case](your-case.md) has short files for common setups.

- \`\${VAR}\` is an environment variable and \`\${file:/path}\` a file's content, in \`url\`, \`headers\` and \`rpc\`.
- \`{chain}\`, \`{chain_id}\`, \`{protocol}\` and a chain's own values, such as \`{id}\`, work in \`url\`,
  \`explorer\`, \`playground\`, \`status\`, \`probes\` and \`parity\`.
- \`<slug>\` is a name of your choice, and \`[]\` each item of a list. A key without a default may be left
  out.

Kinds of values:

${Object.entries(KINDS)
  .map(
    ([name, expected]) =>
      `- ${name}: ${name === "dialect" ? "[one](dialects.md) of a list, or auto" : expected}`,
  )
  .join("\n")}

## All keys in one file

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

${inner.length === 0 ? "" : `${description}\n\n`}${listed.join("\n")}
`;
}

/** A list item for each key of a part and for the keys within it. `examples`: the values of the example file in its place. */
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
    const standard = part.default === undefined ? "" : `; default ${code(part.default)}`;
    // A value that may be null is described by its other form.
    const { expected = part.anyOf?.[0]?.expected ?? "" } = part;
    const kind = `${kindOf(expected)}${isRequired ? "; required" : standard}`;
    return [wrapped(`- \`${path}\` (${kind}): ${part.description ?? ""}`), ...inner];
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

/** What a value is: the name of its kind, if it has one. */
function kindOf(expected: string): string {
  const [named] = Object.entries(KINDS).flatMap(([name, kind]) =>
    expected.startsWith(kind) ? [name + expected.slice(kind.length)] : [],
  );
  return named ?? expected.replace(/^an? /, "");
}

/** A value as the file writes it. */
function code(value: unknown): string {
  return `\`${stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim()}\``;
}

/** A list item in lines of at most 100 columns. No line begins with what Markdown reads as a block. */
function wrapped(item: string): string {
  return item.replace(/(?=.{101})(.{1,98}) (?![-+*#>|])/g, "$1\n  ");
}
