import type { Path } from "../yaml/config-error.ts";
import type { ChainScope } from "./resolve-context.ts";
import type { SecretReference } from "./secrets.ts";

/** A piece of a template: literal text, a chain's value, or a value from outside of the file. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly name: string }
  | SecretReference;

/** A parsed template, or why it cannot be parsed. */
export type Template =
  | { readonly kind: "template"; readonly parts: readonly TemplatePart[] }
  | { readonly kind: "invalid"; readonly message: string };

/** A piece of a filled template. `isChainValue`: it comes from a placeholder such as `{id}`. */
export interface FilledPart {
  readonly text: string;
  readonly isChainValue: boolean;
}

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

/** Fills a template for one chain. Null: a problem was added, or an optional indexer will be skipped. */
export function fillTemplate(
  template: Template,
  path: Path,
  scope: ChainScope,
): readonly FilledPart[] | null {
  if (template.kind === "invalid") {
    scope.indexer.context.addProblem(path, template.message);
    return null;
  }
  const filled = template.parts.map((part) => {
    const text = fillPart(part, path, scope);
    return text === null ? null : { text, isChainValue: part.kind === "value" };
  });
  const complete = filled.filter((part) => part !== null);
  return complete.length === filled.length ? complete : null;
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

function fillPart(part: TemplatePart, path: Path, scope: ChainScope): string | null {
  switch (part.kind) {
    case "text":
      return part.text;
    case "value":
      return scope.values.get(part.name) ?? addMissingValue(part.name, path, scope);
    case "variable":
    case "file":
      return fillSecret(part, path, scope);
  }
}

function addMissingValue(name: string, path: Path, { indexer, path: chainPath, values }: ChainScope): null {
  const valuePath = [...chainPath, name];
  if (!indexer.context.hasProblemAt(valuePath)) {
    const hint = name === "id" ? "; use {chain_id} for the chain's number" : "";
    const message = `Cannot fill {${name}} in ${String(path.at(-1))}: chain ${values.get("chain")} has no value "${name}"${hint}`;
    indexer.context.addProblem(valuePath, message);
  }
  return null;
}

function fillSecret(reference: SecretReference, path: Path, { indexer }: ChainScope): string | null {
  const { context, entry, unset } = indexer;
  const reading = context.secrets.read(reference);
  switch (reading.kind) {
    case "read":
      return reading.text;
    case "unset":
      unset.add(reading.message);
      if (!entry.optional) {
        const message = `Cannot resolve this value: ${reading.message}; set it, or add optional: true to the indexer`;
        context.addProblem(path, message);
      }
      return null;
    case "unreadable":
      context.addProblem(path, reading.message);
      return null;
  }
}
