import { type Alert, annotationsOf } from "./alert.ts";
import type { Settings } from "./settings.ts";
import type { Field, ValueFormat } from "./text.ts";

/** Values for the fields of a text, in an example or a test. */
export interface SampleValues {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of the alert as text, or its text in each format. */
  readonly value?: string | Readonly<Record<ValueFormat, string>>;
  readonly others?: Readonly<Partial<Record<Field["kind"], string>>>;
}

/** The annotations of an alert as a person receives them. */
export function sampleAnnotations(
  alert: Alert,
  settings: Settings,
  { labels, value = "", others = {} }: SampleValues,
): Readonly<Record<string, string>> {
  return annotationsOf(alert, settings, (field) => {
    switch (field.kind) {
      case "label":
        return labels[field.name] ?? "";
      case "optional-label":
        return labels[field.name] === undefined ? "" : ` ${labels[field.name]}`;
      case "value":
        return typeof value === "string" ? value : value[field.as];
      default:
        return others[field.kind] ?? "";
    }
  });
}
