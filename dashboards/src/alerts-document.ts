import type { Alert, AlertContext } from "./alert.ts";
import { allAlerts } from "./alerts/all-alerts.ts";
import { type SampleValues, sampleAnnotations } from "./sample-texts.ts";

/** What the texts are filled with. */
const SAMPLE: SampleValues = {
  labels: {
    ...{ protocol: "airdrops", variant: "subgraph", tier: "production", chain: "base", chain_id: "8453" },
    ...{ against: "multichain", probe: "campaigns", budget: "studio", endpoint: "base" },
    ...{ instance: "synclag:9855", job: "synclag" },
  },
  value: { duration: "33m 20s", number: "2", percentage: "97%", chains: "3 chains" },
  others: {
    behind: "33m 20s behind",
    since: "Its height last grew 34m 10s ago.",
    fresh: "Healthy alternative: multichain (production).",
    witness: "No node of the chain is polled, so the chain itself may have halted.",
    "common-status": "unreachable",
    "common-host": ", as is everything on host gateway.example",
    stranded: "No usable variant is left on form mode.",
  },
};

/** The statuses of the variants, where a text lists them. */
const VARIANTS: Readonly<Record<string, string>> = {
  SynclagNoVariantOk: " multichain (production): failed, 20m 0s behind. subgraph (production): unreachable.",
  SynclagAllVariantsStalled: " multichain (production): stalled. subgraph (production): stalled.",
};
const BOTH_OK = " multichain (production): ok, 2s behind. subgraph (production): ok, 33m 22s behind.";

/** Of an RPC node, whose label is not that of an indexer's endpoint. */
const NODE: Readonly<Record<string, SampleValues["labels"]>> = {
  SynclagRpcWrongChain: { endpoint: "rpc/base/node.example/dd456f637b9f" },
};

const SEVERITIES = {
  critical: "critical: pages",
  warning: "warning: a ticket",
  served: "critical where users are served from it, else warning",
  none: "none: for a dead man's switch",
} as const;

/** docs/ALERTS.md: every alert, and how it reads when it arrives. */
export function renderAlertsDocument(context: AlertContext): string {
  const alerts = allAlerts(context).flatMap((group) => group.alerts);
  const rows = alerts.map((alert) => {
    const { name, severity } = alert;
    return `| [${name}](#${name.toLowerCase()}) | ${SEVERITIES[severity]} | ${alert.for ?? "at once"} |`;
  });
  // Rules of one name differ in their severity only.
  const first = alerts.filter(({ name }, index) => index === alerts.findIndex((one) => one.name === name));
  const texts = first.map((alert) => asReceived(alert, context));
  return `# Alerts

Generated from dashboards/src by \`npm run generate\`: do not edit.

What each alert is, and how it reads when it arrives: the texts of Prometheus, filled with an example. Users are served from the production tier of a chain that is no testnet. Times from a fault to its message:
[DETECTION.md](DETECTION.md). What the alerts look at: [METRICS.md](METRICS.md).

\`synclag export rules --url URL --grafana URL --runbooks URL\` writes them with your links, and \`synclag export grafana\` as Grafana-managed rules;
[deploy/README.md](../deploy/README.md#into-your-prometheus-in-five-minutes) has the other steps.

| alert | severity | fires after |
|---|---|---|
${rows.join("\n")}

${texts.join("\n\n")}
`;
}

function asReceived(alert: Alert, { settings }: AlertContext): string {
  const others = { ...SAMPLE.others, variants: VARIANTS[alert.name] ?? BOTH_OK };
  const labels = { ...SAMPLE.labels, ...NODE[alert.name] };
  const { summary, description } = sampleAnnotations(alert, settings, { ...SAMPLE, labels, others });
  return `## ${alert.name}

> **${summary}**
>
> ${description}

[Runbook](runbooks/${alert.name}.md)`;
}
