import type { SecretReference, SecretStore } from "./secrets.ts";

/** A piece of a template: literal text, a chain's value, or a value from outside of the file. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly name: string }
  | SecretReference;

/** A parsed template, or why it cannot be parsed. */
export type Template =
  | { readonly kind: "template"; readonly parts: readonly TemplatePart[] }
  | { readonly kind: "invalid"; readonly message: string };

/** A piece of a filled template, and whether it is literal, a chain's value or a secret. */
export interface FilledPart {
  readonly text: string;
  readonly source: "text" | "value" | "secret";
}

/** A filled template, or everything that it lacks. */
export type Filled =
  | { readonly kind: "filled"; readonly parts: readonly FilledPart[] }
  | { readonly kind: "failed"; readonly failures: readonly FillFailure[] };

export type FillFailure =
  | { readonly kind: "invalid"; readonly message: string }
  /** A placeholder without a value. */
  | { readonly kind: "no value"; readonly name: string }
  /** A variable that is not set. */
  | { readonly kind: "unset"; readonly message: string };

const BRACES = /(\$?\{[^{}]*\})/;
const VALUE = /^\{([A-Za-z_][\w-]*)\}$/;
const VARIABLE = /^\$\{([A-Za-z_]\w*)\}$/;
const FILE = /^\$\{file:([^{}]+)\}$/;

/** Placeholders that work in every template. */
export const BUILT_IN_VALUES: readonly string[] = ["chain", "chain_id", "protocol"];

/** Parses `{name}`, `${VAR}` and `${file:/path}` in a URL or a link. */
export function parseTemplate(text: string): Template {
  const parts = splitTemplate(text).filter((part) => part.kind !== "text" || part.text !== "");
  if (parts.some((part) => part.kind === "text" && /[{}]/.test(part.text))) {
    const message = `Cannot parse braces: expected {name}, \${VARIABLE} or \${file:/path}, closed and not nested`;
    return { kind: "invalid", message };
  }
  return { kind: "template", parts };
}

/** Parses `${VAR}` and `${file:/path}` in a header's value, where other braces are literal. */
export function parseHeader(text: string): Template {
  const parts = splitTemplate(text);
  if (parts.some((part) => part.kind === "text" && part.text.includes("${"))) {
    return { kind: "invalid", message: `Cannot parse \${…}: expected \${VARIABLE} or \${file:/path}` };
  }
  if (parts.some((part) => part.kind === "value")) {
    const message = "Cannot use placeholders in a header: they work only in url, explorer and playground";
    return { kind: "invalid", message };
  }
  return { kind: "template", parts };
}

/** The names of the placeholders in a text, even if the rest of it cannot be parsed. */
export function placeholdersOf(text: string | null | undefined): readonly string[] {
  return splitTemplate(text ?? "").flatMap((part) => (part.kind === "value" ? [part.name] : []));
}

/** Fills a template with the values of placeholders, variables and files. */
export function fillTemplate(
  template: Template,
  from: { readonly values: ReadonlyMap<string, string>; readonly secrets: SecretStore },
): Filled {
  if (template.kind === "invalid") {
    return { kind: "failed", failures: [template] };
  }
  const filled = template.parts.map((part) => fillPart(part, from));
  const failures = filled.filter((part) => "kind" in part);
  return failures.length > 0
    ? { kind: "failed", failures }
    : { kind: "filled", parts: filled.filter((part) => "source" in part) };
}

export function joinParts(parts: readonly FilledPart[]): string {
  return parts.map(({ text }) => text).join("");
}

function splitTemplate(text: string): readonly TemplatePart[] {
  return text.split(BRACES).map(parsePart);
}

function parsePart(piece: string): TemplatePart {
  const value = VALUE.exec(piece)?.[1];
  if (value !== undefined) {
    return { kind: "value", name: value };
  }
  const variable = VARIABLE.exec(piece)?.[1];
  if (variable !== undefined) {
    return { kind: "variable", name: variable };
  }
  const path = FILE.exec(piece)?.[1];
  return path === undefined ? { kind: "text", text: piece } : { kind: "file", path };
}

function fillPart(
  part: TemplatePart,
  { values, secrets }: Parameters<typeof fillTemplate>[1],
): FilledPart | FillFailure {
  switch (part.kind) {
    case "text":
      return { text: part.text, source: "text" };
    case "value": {
      const text = values.get(part.name);
      return text === undefined ? { kind: "no value", name: part.name } : { text, source: "value" };
    }
    case "variable":
    case "file": {
      const reading = secrets.read(part);
      return reading.kind === "read" ? { text: reading.text, source: "secret" } : reading;
    }
  }
}
