import type { Field } from "./text.ts";

/** Lag of the alert's target: a second query of the rule, matched by its labels. */
export const BEHIND_QUERY = "B";
/** Whether any variant of the alert's protocol and chain is preferred. */
export const FRESH_QUERY = "C";

/**
 * A field in the templates of Grafana-managed alerts. These cannot run queries, so names that are not labels are left to the
 * dashboard. Without a `$`, which provisioning would expand as an environment variable.
 */
export function grafanaField(field: Field): string {
  switch (field.kind) {
    case "label":
      return `{{ .Labels.${field.name} }}`;
    case "optional-label":
      return `{{ with .Labels.${field.name} }} {{ . }}{{ end }}`;
    case "value":
      return `{{ ${VALUE[field.as]}(index .Values "A").Value }}`;
    case "behind":
      return `{{ if (index .Values "${BEHIND_QUERY}").Labels }}{{ humanizeDuration (index .Values "${BEHIND_QUERY}").Value }}{{ else }}an unknown time{{ end }}`;
    case "fresh":
      return `{{ if (index .Values "${FRESH_QUERY}").Value }}A variant is fresh: the dashboard names it.{{ else }}No variant that users are served from is fresh.{{ end }}`;
    case "variants":
      return " The dashboard shows each of them.";
    case "witness":
      return "The chain itself may have halted, unless chains.yaml names a node of it.";
    case "incidents":
      return " The dashboard shows which incidents are active.";
  }
}

const VALUE = { duration: "humanizeDuration ", number: "", percentage: "humanizePercentage " } as const;
