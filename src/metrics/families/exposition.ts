/** The text format 0.0.4 of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */

/** A series and its value: the labels as `labelsText` writes them. A series of a histogram has a suffix to its name, such as `_bucket`. */
export type Sample = readonly [labels: string, value: number, suffix?: string];

interface Family<Source> {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: (source: Source) => Iterable<Sample>;
}

/** The text of these families; one without samples is left out. */
export function expositionText<Source>(families: readonly Family<Source>[], source: Source): string {
  return families
    .map(({ name, type, help, samples }) => {
      const lines = [...samples(source)].map((sample) => sampleLine(name, sample)).join("");
      return lines === "" ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
    })
    .join("");
}

/** One line; without labels there are no braces. */
export function sampleLine(name: string, [labels, value, suffix = ""]: Sample): string {
  const braces = labels === "" ? "" : `{${labels}}`;
  return `${name}${suffix}${braces} ${valueText(value)}\n`;
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
