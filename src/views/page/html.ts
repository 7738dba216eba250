const MARKUP = Symbol("markup");

/** Markup that is safe to send: `html` escapes all values. */
export interface Html {
  readonly [MARKUP]: string;
}

/** A value of a template: text is escaped, markup is kept, null is left out. */
export type HtmlValue = string | number | null | Html | readonly HtmlValue[];

/** Template tag for markup. Attribute values must be in double quotes. */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const markup = literals.reduce(
    (text, literal, index) => text + literal + asMarkup(values[index] ?? null),
    "",
  );
  return { [MARKUP]: markup };
}

/** Treats text as markup: only for our own texts, never for anything from outside. */
export function ownMarkup(text: string): Html {
  return { [MARKUP]: text };
}

/** The markup as text. */
export function renderHtml(markup: Html): string {
  return markup[MARKUP];
}

/** The URL if it is safe to link to, because it is http or https; else null. */
export function webLink(url: string | null): string | null {
  return url !== null && /^https?:\/\//i.test(url) ? url : null;
}

function asMarkup(value: HtmlValue): string {
  if (value === null) {
    return "";
  }
  if (typeof value === "string" || typeof value === "number") {
    return escapeText(String(value));
  }
  return MARKUP in value ? value[MARKUP] : value.map(asMarkup).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? found);
}
