/** `{name}` without spaces, as in a URL; a selection of one field is written with spaces: `{ id }`. */
const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

/** A selection with its placeholders filled, or the first that has no value. */
export type FilledSelection =
  | { readonly kind: "filled"; readonly text: string }
  | { readonly kind: "no value"; readonly name: string };

/** Fills the placeholders of a selection. */
export function fillSelection(text: string, values: ReadonlyMap<string, string>): FilledSelection {
  const missing = placeholdersIn(text).find((name) => !values.has(name));
  return missing === undefined
    ? {
        kind: "filled",
        text: text.replace(PLACEHOLDER, (braces, name: string) => values.get(name) ?? braces),
      }
    : { kind: "no value", name: missing };
}

/** The names of the placeholders in a selection. */
export function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = ""]) => name);
}
