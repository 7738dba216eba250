import { selected } from "./promql.ts";
import type { Field, Lookup } from "./text.ts";

const PAIR = "protocol=%q, chain=%q";
const INDEXER = "protocol=%q, variant=%q, tier=%q";
const OF_PAIR = "$labels.protocol $labels.chain";
const OF_INDEXER = "$labels.protocol $labels.variant $labels.tier";
const TARGET = "protocol, variant, tier, chain, chain_id";

const STATUS = `max by (protocol, variant, tier, chain, status) (synclag_status{${PAIR}}) == 1`;
const LAG = `max(synclag_lag_seconds{${INDEXER}, chain=%q})`;
/** The lag of targets that reply. The lag of other targets is old: the metric keeps it until it is stale. */
const ANSWERED_LAG = `max(synclag_lag_seconds{${INDEXER}, chain=%q} and synclag_up == 1)`;
const ADVANCE = `max(time() - synclag_last_advance_timestamp_seconds{${INDEXER}, chain=%q})`;
const AGE = `time() - max by (${TARGET}) (synclag_last_success_timestamp_seconds{${PAIR}})`;
const PREFERRED = `max by (${TARGET}) (synclag_preferred{${PAIR}}) == 1`;
/** The preferred target, if it has replied lately: a target that is polled twice an hour may still be `ok` without a recent reply. */
const HEARD = `${AGE} < on (${TARGET}) max by (${TARGET}) (synclag_threshold_seconds{${PAIR}, level="stalled"}) and on (${TARGET}) ${PREFERRED}`;
const LATEST = `${AGE} and on (${TARGET}) ${PREFERRED}`;
const SPELLS = `100 * max by (status) (avg_over_time(synclag_status{${INDEXER}, chain=%q}[1h])) > 0`;
const INCIDENT = `max by (host, status) (synclag_incident_targets{${INDEXER}})`;
const EXPLAINED = `max by (chain) (synclag_shared_cause{${INDEXER}})`;
const WORST_LAG = `max(synclag_lag_seconds{${INDEXER}} and on (${TARGET}) synclag_shared_cause and on (${TARGET}) synclag_up == 1)`;
const STILL_OK = `count by (variant, tier) (max by (${TARGET}) (synclag_preferred{protocol=%q}) == 1 and on (chain) synclag_shared_cause{${INDEXER}})`;
const NONE_OK = `${EXPLAINED} unless on (chain) max by (chain) (synclag_preferred{protocol=%q}) == 1`;
const STRANDED = `max by (chain) (synclag_pair_state{protocol=%q, state="down"}) == 1 and on (chain) max by (chain) (synclag_status{${INDEXER}, status="rejected"}) == 1`;
/** A node that replies: the metric is absent without a recent reply. */
const ANSWERING_NODE = "synclag_rpc_chain_mismatch{chain=%q} == 0";
const NODE = `synclag_polls_total{variant="rpc", endpoint=%q}`;

const NAME = `{{ . | first | label "variant" }} ({{ . | first | label "tier" }})`;

/**
 * Writes fields in the templates of Prometheus. Facts that may change are not labels of the alert but are queried when it fires,
 * because a changed label makes a new alert, whose `for` begins again.
 */
export function prometheusField(selector: string): (field: Field) => string {
  const asked = (query: string, labels: string) =>
    `printf \`${selected(query, selector)}\` ${labels} | query`;
  const texts: Readonly<Record<Lookup, string>> = {
    behind: `{{ with ${asked(LAG, `${OF_INDEXER} $labels.chain`)} }}{{ . | first | value | humanizeDuration }} behind{{ else }}behind by an unknown time{{ end }}`,
    since: `{{ with ${asked(ADVANCE, `${OF_INDEXER} $labels.chain`)} }}Its height last grew {{ . | first | value | humanizeDuration }} ago.{{ else }}Its height was never seen to grow.{{ end }}`,
    fresh: `{{ with ${asked(HEARD, `${OF_PAIR} ${OF_PAIR} ${OF_PAIR}`)} }}Healthy alternative: ${NAME}.{{ else }}{{ with ${asked(LATEST, `${OF_PAIR} ${OF_PAIR}`)} }}${NAME} was ok when it last replied, {{ . | first | value | humanizeDuration }} ago.{{ else }}No other variant that serves users is ok.{{ end }}{{ end }}`,
    variants: `{{ range ${asked(STATUS, OF_PAIR)} | sortByLabel "variant" }} {{ .Labels.variant }} ({{ .Labels.tier }}): {{ .Labels.status }}{{ with ${asked(ANSWERED_LAG, ".Labels.protocol .Labels.variant .Labels.tier .Labels.chain")} }}, {{ . | first | value | humanizeDuration }} behind{{ end }}.{{ end }}`,
    witness: `{{ with ${asked(ANSWERING_NODE, "$labels.chain")} }}A node of the chain replies and shows no halt. If the variants are behind, look for what they have in common; else the node itself may be late, and the chain may have halted.{{ else }}{{ with ${asked(NODE, "$labels.chain")} }}No node of the chain replies{{ else }}No node of the chain is polled{{ end }}, so the chain itself may have halted.{{ end }}`,
    spells: `{{ range ${asked(SPELLS, `${OF_INDEXER} $labels.chain`)} | sortByLabel "status" }} {{ .Labels.status }} {{ .Value | printf "%.0f" }}%.{{ end }}`,
    "common-status": `{{ with ${asked(INCIDENT, OF_INDEXER)} }}{{ . | first | label "status" }}{{ end }}`,
    "common-host": `{{ with ${asked(INCIDENT, OF_INDEXER)} }}{{ with . | first | label "host" }}, all on host {{ . }}{{ end }}{{ end }}`,
    explained: `{{ range ${asked(EXPLAINED, OF_INDEXER)} | sortByLabel "chain" }} {{ .Labels.chain }}{{ end }}. {{ with ${asked(WORST_LAG, OF_INDEXER)} }}The worst is {{ . | first | value | humanizeDuration }} behind.{{ else }}Its lag is unknown.{{ end }}{{ range ${asked(STILL_OK, `$labels.protocol ${OF_INDEXER}`)} | sortByLabel "variant" }} {{ .Labels.variant }} ({{ .Labels.tier }}) is ok on {{ .Value }} of them.{{ end }}{{ with ${asked(NONE_OK, `${OF_INDEXER} $labels.protocol`)} }} No variant is ok on{{ range . | sortByLabel "chain" }} {{ .Labels.chain }}{{ end }}.{{ end }}`,
    stranded: `{{ with ${asked(STRANDED, `$labels.protocol ${OF_INDEXER}`)} }}No usable variant is left on{{ range . | sortByLabel "chain" }} {{ .Labels.chain }}{{ end }}.{{ else }}Every chain has another usable variant.{{ end }}`,
  };
  return (field) => {
    switch (field.kind) {
      case "label":
        return `{{ $labels.${field.name} }}`;
      case "optional-label":
        return `{{ with $labels.${field.name} }} {{ . }}{{ end }}`;
      case "value":
        return VALUE[field.as];
      default:
        return texts[field.kind];
    }
  };
}

const VALUE = {
  duration: "{{ $value | humanizeDuration }}",
  number: "{{ $value }}",
  percentage: "{{ $value | humanizePercentage }}",
  chains: "{{ $value }} chain{{ if ne $value 1.0 }}s{{ end }}",
} as const;
