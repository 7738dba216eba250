import type { SampleValues } from "../../dashboards/src/sample-texts.ts";

/** One case for `promtool test rules`: series with a sample per minute, and what fires at some instants, such as `12m`. */
export interface RuleTest {
  readonly name: string;
  readonly series: readonly InputSeries[];
  /** Which alerts it looks at; by default those of the fleet. */
  readonly about?: "fleet" | "synclag";
  /** Every alert that fires at an instant; an empty list where none does. */
  readonly fires: Readonly<Record<string, readonly Firing[]>>;
  /** Expected results of further expressions. */
  readonly queries?: readonly ExpectedSamples[];
}

export interface ExpectedSamples {
  readonly expr: string;
  readonly at: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
}

export interface InputSeries {
  readonly series: string;
  /** In the notation of promtool: `1x4` is five samples. */
  readonly values: string;
}

export interface Firing {
  readonly name: string;
  readonly severity: string;
  /** The labels that identify the alert; all labels, if its texts are tested. */
  readonly labels: Labels;
  /** The values in its texts, if these are tested; then no other alert of this name fires. */
  readonly texts?: Omit<SampleValues, "labels">;
}

export type Labels = Readonly<Record<string, string>>;

/** The labels by which alerts that fire are told apart. */
const FIRING_LABELS = [
  ...["alertname", "severity", "protocol", "variant", "tier", "chain", "budget", "job", "instance"],
];
/** Longer than any test. */
const ALWAYS = 5_000;

/** A series: a constant number, or values in promtool's notation. */
export function metric(name: string, labels: Labels, values: string | number): InputSeries {
  return {
    series: Object.keys(labels).length === 0 ? name : `${name}${labelsOf(labels)}`,
    values: typeof values === "number" ? `${values}x${ALWAYS}` : values,
  };
}

/** `{chain="base", tier="production"}` */
export function labelsOf(labels: Labels): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(", ")}}`;
}

/** Expects that of the alerts that match, exactly these fire. */
export function onlyFiring(at: string, matchers: string, firing: readonly Firing[]): ExpectedSamples {
  const samples = firing.map(({ name, severity, labels }) => {
    const known = Object.entries(labels).filter(([label]) => FIRING_LABELS.includes(label));
    return { labels: labelsOf({ alertname: name, severity, ...Object.fromEntries(known) }), value: 1 };
  });
  return {
    expr: `count by (${FIRING_LABELS.join(", ")}) (ALERTS{alertstate="firing", ${matchers}})`,
    at,
    samples,
  };
}
