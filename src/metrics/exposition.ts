/**
 * Prometheus' text format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/. Heads of families are
 * written where their names are kept.
 */

/** A series and its value: the labels as `labelsText` gives them. */
export type Sample = readonly [labels: string, value: number];

/** A line of its own; without labels there are no braces. */
export function sampleLine(name: string, [labels, value]: Sample): string {
  return labels === "" ? `${name} ${valueText(value)}\n` : `${name}{${labels}} ${valueText(value)}\n`;
}

/** Labels as they stand between the braces, in the order given: `chain="base",chain_id="8453"`. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeValue(value)}"`)
    .join(",");
}

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`));
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) {
    return "+Inf";
  }
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
