/** How a value is written; `chains`: `1 chain` or `3 chains`. */
export type ValueFormat = "duration" | "number" | "percentage" | "chains";

/** A part of a text that is filled in when an alert fires. */
export type Field =
  | { readonly kind: "label"; readonly name: string }
  /** A space and the label, or nothing if the label is empty. */
  | { readonly kind: "optional-label"; readonly name: string }
  /** The value of the alert's expression. */
  | { readonly kind: "value"; readonly as: ValueFormat }
  | { readonly kind: Lookup };

/** Facts that are looked up by the labels of an alert when it fires. */
export type Lookup =
  /** `12m 0s behind`, of the alert's target. */
  | "behind"
  /** A sentence: when the height of the alert's target last grew. */
  | "since"
  /** A sentence: which variant of the alert's protocol and chain is fresh. */
  | "fresh"
  /** The variants of the alert's protocol and chain with their statuses. */
  | "variants"
  /** A sentence: whether a node of the alert's chain replies. Such a node would show a halt. */
  | "witness"
  /** The statuses of the alert's target in the last hour, each with its share of the hour. */
  | "spells"
  /** The status that the targets of the alert's indexer have in common. */
  | "common-status"
  /** The host that is the cause, after a comma; nothing if the indexer is the cause. */
  | "common-host"
  /** The chains on which a cause affects the alert's indexer, and sentences with the worst lag and the variants that are still ok. */
  | "explained"
  /** A sentence: the chains on which the protocol of a rejected indexer has no usable variant. */
  | "stranded";

/** A text with fields, for both Prometheus and Grafana. */
export type Text = readonly (string | Field)[];

/** ``say`${label("protocol")}/${label("chain")}` `` */
export function say(strings: TemplateStringsArray, ...fields: readonly Field[]): Text {
  return strings.flatMap((text, index) => {
    const field = fields[index];
    return field === undefined ? [text] : [text, field];
  });
}

export function label(name: string): Field {
  return { kind: "label", name };
}

export function optionalLabel(name: string): Field {
  return { kind: "optional-label", name };
}

export const DURATION: Field = { kind: "value", as: "duration" };
export const NUMBER: Field = { kind: "value", as: "number" };
export const CHAINS: Field = { kind: "value", as: "chains" };
export const PERCENTAGE: Field = { kind: "value", as: "percentage" };
export const BEHIND: Field = { kind: "behind" };
export const SINCE: Field = { kind: "since" };
export const FRESH: Field = { kind: "fresh" };
export const VARIANTS: Field = { kind: "variants" };
export const WITNESS: Field = { kind: "witness" };
export const SPELLS: Field = { kind: "spells" };
export const COMMON_STATUS: Field = { kind: "common-status" };
export const COMMON_HOST: Field = { kind: "common-host" };
export const EXPLAINED: Field = { kind: "explained" };
export const STRANDED: Field = { kind: "stranded" };

/** `airdrops/base/subgraph/production`, as on the page. `synclag check` accepts this name as a filter. */
export const TARGET_NAME: Text = say`${label("protocol")}/${label("chain")}/${label("variant")}/${label("tier")}`;
/** `airdrops subgraph (production)` */
export const INDEXER_NAME: Text = say`${label("protocol")} ${label("variant")} (${label("tier")})`;
export const PAIR_NAME: Text = say`${label("protocol")}/${label("chain")}`;

export function writeText(text: Text, write: (field: Field) => string): string {
  return text.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

/** A dashboard, filtered by labels of the alert. */
export interface DashboardLink {
  readonly uid: "synclag-fleet" | "synclag-chain" | "synclag-endpoint" | "synclag-itself";
  /** Labels of the alert that set the variables of the same name. */
  readonly variables: readonly string[];
}
