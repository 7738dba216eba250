import type { MetricsSource } from "../core/model/metrics-source.ts";

/** The text format 0.0.4 of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */

/** A series and its value. `labels`: as `labelsText` writes them. `suffix`: what a histogram appends to its name, as in `_bucket`. */
export type MetricSample = readonly [labels: string, value: number, suffix?: string];

/** One metric: its public name, and how its samples are read. */
export interface MetricFamily<Source = MetricsSource> {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  /** Without a full stop, like the texts of Prometheus itself. */
  readonly help: string;
  readonly labels: readonly string[];
  /** A sample for each series that exists now. Unknown values are absent, never 0. */
  readonly samples: (source: Source) => Iterable<MetricSample>;
}

/** The text of these families. Families without samples are left out. */
export function expositionText<Source>(families: readonly MetricFamily<Source>[], source: Source): string {
  return families
    .map((one) => {
      const lines = [...one.samples(source)].map((sample) => sampleLine(one.name, sample)).join("");
      return lines === "" ? "" : `${headText(one)}${lines}`;
    })
    .join("");
}

/** The comment lines before the samples of a family. */
export function headText({ name, help, type }: Pick<MetricFamily, "name" | "help" | "type">): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** The line of a sample. Without labels, it has no braces. */
export function sampleLine(name: string, [labels, value, suffix = ""]: MetricSample): string {
  const braces = labels === "" ? "" : `{${labels}}`;
  const text = String(value);
  const number = Number.isFinite(value) ? text : text.replace("Infinity", "Inf").replace(/^Inf/, "+Inf");
  return `${name}${suffix}${braces} ${number}\n`;
}

/** The text between the braces, with the labels in the given order: `chain="base",chain_id="8453"`. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => labelText(name, value))
    .join(",");
}

/** One label, with its value escaped. */
export function labelText(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))}"`;
}

/** A family; its type follows from its name. */
export function family<Source>(
  name: string,
  help: string,
  labels: readonly string[],
  samples: (source: Source) => Iterable<MetricSample>,
): MetricFamily<Source> {
  return { name, type: name.endsWith("_total") ? "counter" : "gauge", help, labels, samples };
}
