/** A piece of a text with blanks: as it stands, a chain's value, or something from outside of the file. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly name: string }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string };

/** A template that can be read, or the sentence that says why not. */
export type Template =
  | { readonly kind: "template"; readonly parts: readonly TemplatePart[] }
  | { readonly kind: "unreadable"; readonly message: string };

const BLANK = /(\$?\{[^{}]*\})/;
const VALUE = /^\{([A-Za-z_][\w-]*)\}$/;
const VARIABLE = /^\$\{([A-Za-z_]\w*)\}$/;
const FILE = /^\$\{file:([^{}]+)\}$/;

/** Placeholders that every template knows. */
export const BUILT_IN_VALUES: readonly string[] = ["chain", "chain_id", "protocol"];

/** Reads `{name}`, `${VAR}` and `${file:/path}` in a URL or a link. */
export function parseTemplate(text: string): Template {
  const parts = text
    .split(BLANK)
    .filter((piece) => piece !== "")
    .map(parsePart);
  const stray = parts.find((part) => part.kind === "text" && /[{}]/.test(part.text));
  if (stray === undefined) {
    return { kind: "template", parts };
  }
  return {
    kind: "unreadable",
    message: `Cannot read the braces: expected {name}, \${VARIABLE} or \${file:/path}, closed and not nested`,
  };
}

/** Reads `${VAR}` and `${file:/path}` in a header's value, where other braces mean nothing. */
export function parseHeader(text: string): Template {
  const template = parseTemplate(text);
  const parts = template.kind === "template" ? template.parts : text.split(BLANK).map(parsePart);
  if (parts.some((part) => part.kind === "text" && part.text.includes("${"))) {
    return { kind: "unreadable", message: `Cannot read \${…}: expected \${VARIABLE} or \${file:/path}` };
  }
  const value = parts.find((part) => part.kind === "value");
  if (value !== undefined) {
    return {
      kind: "unreadable",
      message: `Cannot fill {${value.name}} in a header: placeholders work in url, explorer and playground`,
    };
  }
  return { kind: "template", parts };
}

/** The names of the placeholders in a text, whether or not the rest of it can be read. */
export function placeholdersOf(text: string | null | undefined): readonly string[] {
  const parts = (text ?? "").split(BLANK).map(parsePart);
  return parts.flatMap((part) => (part.kind === "value" ? [part.name] : []));
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
