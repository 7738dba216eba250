import type { Field } from "./text.ts";

const STATUS = "max by (protocol, variant, tier, chain, status) (synclag_status{protocol=%q,chain=%q}) == 1";
const LAG = "max(synclag_lag_seconds{protocol=%q,variant=%q,tier=%q,chain=%q})";

/**
 * A field in the templates of Prometheus. What is not a label of the alert is queried when it fires: a label that changes would
 * make it another alert and restart its `for`.
 */
export function prometheusField(field: Field): string {
  switch (field.kind) {
    case "label":
      return `{{ $labels.${field.name} }}`;
    case "optional-label":
      return `{{ with $labels.${field.name} }} {{ . }}{{ end }}`;
    case "value":
      return `{{ $value${VALUE[field.as]} }}`;
    case "behind":
      return `{{ with printf "${LAG}" $labels.protocol $labels.variant $labels.tier $labels.chain | query }}{{ . | first | value | humanizeDuration }}{{ else }}an unknown time{{ end }}`;
    case "fresh":
      return `{{ with printf "synclag_preferred{protocol=%q,chain=%q} == 1" $labels.protocol $labels.chain | query }}Freshest: {{ . | first | label "variant" }} ({{ . | first | label "tier" }}).{{ else }}No variant that users are served from is fresh.{{ end }}`;
    case "variants":
      return `{{ range printf "${STATUS}" $labels.protocol $labels.chain | query | sortByLabel "variant" }} {{ .Labels.variant }} ({{ .Labels.tier }}): {{ .Labels.status }}{{ with printf "${LAG}" .Labels.protocol .Labels.variant .Labels.tier .Labels.chain | query }}, {{ . | first | value | humanizeDuration }} behind{{ end }}.{{ end }}`;
    case "witness":
      return `{{ with printf "synclag_polls_total{variant=\\"rpc\\",endpoint=%q}" $labels.chain | query }}A node of the chain is polled as well and shows no halt: look for what the variants have in common.{{ else }}No node of the chain is polled, so the chain itself may have halted.{{ end }}`;
    case "incidents":
      return `{{ range query "max by (scope, subject) (synclag_incident_active) == 1" | sortByLabel "subject" }} Active: {{ .Labels.scope }} {{ .Labels.subject }}.{{ end }}`;
  }
}

const VALUE = {
  duration: " | humanizeDuration",
  number: "",
  percentage: " | humanizePercentage",
} as const;
