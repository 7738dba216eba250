const MARKUP = Symbol("markup");

/** Markup that is safe to send: made by `html`, which escapes everything that is put into it. */
export interface Html {
  readonly [MARKUP]: string;
}

/** What may stand in a template: text is escaped, markup is kept, null is nothing. */
export type HtmlValue = string | number | null | Html | readonly HtmlValue[];

/** Template tag for markup. Attribute values must stand in double quotes. */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = literals.map((literal, index) => literal + asMarkup(values[index] ?? null));
  return { [MARKUP]: parts.join("") };
}

/** Takes text for markup as it stands: only for our own constants, never for anything from outside. */
export function ownMarkup(text: string): Html {
  return { [MARKUP]: text };
}

/** The finished text. */
export function renderHtml(markup: Html): string {
  return markup[MARKUP];
}

/** A link's target if it is one that a click can safely open, else null. */
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

function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
