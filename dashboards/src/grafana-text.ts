import { PAIR, perTarget, TARGET, threshold } from "./promql.ts";
import type { Field, Lookup } from "./text.ts";

/**
 * Further queries of a rule, for fields whose value is not in a label. Grafana matches their results by the labels of the alert. A
 * query without a result returns `unknown`, a number that no result can have.
 */
export const FIELD_QUERIES: Readonly<
  Partial<Record<Field["kind"], { readonly refId: string; readonly expr: string; readonly unknown: number }>>
> = {
  behind: { refId: "B", expr: perTarget("synclag_lag_seconds"), unknown: -1 },
  since: {
    refId: "S",
    expr: `time() - ${perTarget("synclag_last_advance_timestamp_seconds")}`,
    unknown: -1,
  },
  fresh: {
    refId: "C",
    expr: `max by (${PAIR}) (
  ${perTarget("synclag_preferred")} == 1
  and on (${TARGET})
    time() - ${perTarget("synclag_last_success_timestamp_seconds")} < on (${TARGET}) ${threshold("stalled")}
)`,
    unknown: 0,
  },
};

/**
 * A field in the templates of Grafana-managed alerts. Templates cannot run queries, so the text refers to the dashboard for names
 * that are not in a label. There is no `$`, because provisioning would expand it as an environment variable.
 */
export function grafanaField(field: Field): string {
  switch (field.kind) {
    case "label":
      return `{{ .Labels.${field.name} }}`;
    case "optional-label":
      return `{{ with .Labels.${field.name} }} {{ . }}{{ end }}`;
    case "value":
      return VALUE[field.as];
    default:
      return TEXTS[field.kind];
  }
}

const TEXTS: Readonly<Record<Lookup, string>> = {
  behind: `{{ if (index .Values "B").Labels }}{{ humanizeDuration (index .Values "B").Value }} behind{{ else }}behind by an unknown time{{ end }}`,
  since: `{{ if (index .Values "S").Labels }}Its height last grew {{ humanizeDuration (index .Values "S").Value }} ago.{{ else }}Its height was never seen to grow.{{ end }}`,
  fresh: `{{ if (index .Values "C").Value }}Another variant is ok: the dashboard names it.{{ else }}No other variant that serves users is known to be ok.{{ end }}`,
  variants: " The dashboard shows each variant.",
  witness: "The chain itself may have halted, unless one of its nodes replies: see the dashboard.",
  spells: " the dashboard shows its statuses.",
  "common-status": "in trouble",
  "common-host": "",
  explained: " the dashboard names the chains, and shows which other variants are ok.",
  stranded: "The dashboard shows which chains have another usable variant.",
};

const VALUE = {
  duration: '{{ humanizeDuration (index .Values "A").Value }}',
  number: '{{ (index .Values "A").Value }}',
  percentage: '{{ humanizePercentage (index .Values "A").Value }}',
  chains: '{{ (index .Values "A").Value }} chain{{ if ne (index .Values "A").Value 1.0 }}s{{ end }}',
} as const;
