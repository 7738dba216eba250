import type { Settings } from "./settings.ts";

/** What is filled into a sentence when an alert fires. */
export type Field =
  | { readonly kind: "label"; readonly name: string }
  /** The value of the alert's expression. */
  | { readonly kind: "value"; readonly as: "duration" | "number" | "percentage" }
  /** How far the alert's target is behind its chain. */
  | { readonly kind: "behind" }
  /** A sentence: which variant is still fresh, for the alert's protocol and chain. */
  | { readonly kind: "fresh" }
  /** Every variant of the alert's protocol and chain, with its status. */
  | { readonly kind: "variants" }
  /** A sentence: whether anyone but the indexers could tell a halt of the alert's chain. */
  | { readonly kind: "witness" }
  /** The shared causes that are active now. */
  | { readonly kind: "incidents" };

/** A text with fields, written once for Prometheus and for Grafana. */
export type Text = readonly (string | Field)[];

/** How a field is written for whoever evaluates the rule. */
export type WriteField = (field: Field) => string;

/** ``say`${LABEL.protocol} on ${LABEL.chain}` `` */
export function say(strings: TemplateStringsArray, ...fields: readonly Field[]): Text {
  return strings.flatMap((text, index) => {
    const field = fields[index];
    return field === undefined ? [text] : [text, field];
  });
}

export function label(name: string): Field {
  return { kind: "label", name };
}

export const DURATION: Field = { kind: "value", as: "duration" };
export const NUMBER: Field = { kind: "value", as: "number" };
export const PERCENTAGE: Field = { kind: "value", as: "percentage" };
export const BEHIND: Field = { kind: "behind" };
export const FRESH: Field = { kind: "fresh" };
export const VARIANTS: Field = { kind: "variants" };
export const WITNESS: Field = { kind: "witness" };
export const INCIDENTS: Field = { kind: "incidents" };

const PROTOCOL = label("protocol");
const CHAIN = label("chain");

/** `airdrops on base: subgraph (production)` */
export const TARGET_NAME: Text = say`${PROTOCOL} on ${CHAIN}: ${label("variant")} (${label("tier")})`;
/** `airdrops subgraph (production)` */
export const INDEXER_NAME: Text = say`${PROTOCOL} ${label("variant")} (${label("tier")})`;
export const PAIR_NAME: Text = say`${PROTOCOL} on ${CHAIN}`;

export function writeText(text: Text, write: WriteField): string {
  return text.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

/** A dashboard of ours, at what the alert speaks of. */
export interface DashboardLink {
  readonly uid: "synclag-fleet" | "synclag-chain" | "synclag-endpoint" | "synclag-itself";
  /** Labels of the alert that stand in the variables of the same name. */
  readonly variables: readonly string[];
}

export function dashboardUrl({ uid, variables }: DashboardLink, settings: Settings): Text {
  const parts = variables.flatMap((name, index) => [`${index === 0 ? "?" : "&"}var-${name}=`, label(name)]);
  return [`${settings.grafanaUrl}/d/${uid}`, ...parts];
}
