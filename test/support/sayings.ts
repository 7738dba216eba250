import { COLUMNS, type Outputs } from "./outputs.ts";

/** An output that a story can print: `words` are those after the verb, `text` is all of them. */
type Saying = (outputs: Outputs, words: readonly string[], text: string) => string | readonly string[];

export const SAYINGS: Readonly<Record<string, Saying>> = {
  /** `target NAME [FIELD…]`: its status and why, and these fields of its report. */
  target: (outputs, [name = "", ...fields]) => {
    const target = outputs.target(name);
    const others = fields.map((field) => `, ${field} ${JSON.stringify(Reflect.get(target, field))}`);
    return `${target.status}: ${target.detail}${others.join("")}`;
  },
  /** `json PATH`: a value of the report, such as `budgets.0.used`. */
  json: (outputs, [path = ""]) => {
    const steps = path.split(".");
    return JSON.stringify(
      steps.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), outputs.report()),
    );
  },
  /** The lines that match, of the status page, of a chain's page and of the metrics. */
  page: (outputs, _, pattern) => matching(outputs.page(), pattern),
  chain: (outputs, [slug = "", ...pattern]) => matching(outputs.page(slug), pattern.join(" ")),
  metrics: (outputs, _, pattern) => matching(outputs.metrics(), pattern),
};

/** The lines that match; before the first of a table, its headers. */
export function matching(text: string, pattern: string): readonly string[] {
  const found: string[] = [];
  let headers: string | null = null;
  for (const line of text.split("\n")) {
    headers = line.startsWith(COLUMNS) ? line : headers;
    if (!new RegExp(pattern).test(line)) {
      continue;
    }
    if (headers !== null && line.includes(" | ")) {
      found.push(...(line === headers ? [] : [headers]));
      headers = null;
    }
    found.push(line);
  }
  return found;
}

/** The lines of what is said; `N` replaces heights. */
export function listed(said: string | readonly string[]): readonly string[] {
  const lines = [said].flat().map((one) => one.replaceAll(/\b\d{1,3}(,\d{3}){2,}\b/g, "N"));
  return lines.length === 0 ? ["nothing"] : lines;
}
