import type { Alert, AlertContext } from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { type SampleValues, sampleAnnotations } from "./sample-texts.ts";

/** Values for the fields of the texts. */
const SAMPLE: SampleValues = {
  labels: {
    ...{ protocol: "airdrops", variant: "subgraph", tier: "production", chain: "base", chain_id: "8453" },
    ...{ against: "multichain", probe: "campaigns", budget: "studio", endpoint: "base" },
    ...{ instance: "synclag:9855", job: "synclag" },
  },
  value: { duration: "33m 20s", number: "2", percentage: "97%", chains: "3 chains" },
  others: { "common-status": "unreachable" },
};

/** Labels of alerts about an RPC node, whose endpoint is named differently from an indexer's. */
const NODE: Readonly<Record<string, SampleValues["labels"]>> = {
  SynclagRpcWrongChain: { endpoint: "rpc/base/node.example/dd456f637b9f" },
};

/** docs/ALERTS.md: every alert with the first line of its message. */
export function renderAlertsDocument(context: AlertContext): string {
  const alerts = allAlerts(context).flatMap((group) => group.alerts);
  const items = [...new Set(alerts.map(({ name }) => name))].map((name) => {
    const rules = alerts.filter((alert) => alert.name === name);
    const when = rules.map(({ severity, for: duration }) => {
      const word = severity === "byLabels" ? "critical or warning" : severity;
      return `${word} ${duration === null ? "at once" : `after ${duration}`}`;
    });
    const texts = new Set(rules.map((alert) => summaryOf(alert, context)));
    return `- [${name}](runbooks/${name}.md) (${when.join(", ")}): ${[...texts].join("; ")}`;
  });
  return `# Alerts

What can Synclag alert me to?

Generated from dashboards/src by \`npm run generate\`: do not edit.

Each alert with its runbook, and the first line of its message. *Critical or warning*: critical in the
production tier of a chain that is not a testnet, else warning. A critical alert pages somebody. A
warning opens a ticket: the example for Alertmanager sends it only from Monday to Friday, 08:00 to 18:00
UTC. [Times from a fault to its message](DETECTION.md) · [metrics](METRICS.md) · [how to install the
rules](../deploy/README.md#into-your-prometheus-in-five-minutes)

${items.join("\n")}
`;
}

function summaryOf(alert: Alert, { settings }: AlertContext): string {
  const labels = { ...SAMPLE.labels, ...NODE[alert.name] };
  return sampleAnnotations(alert, settings, { ...SAMPLE, labels })["summary"] ?? "";
}
