import type { AlertContext } from "../alert.ts";
import { allAlerts } from "../alerts/all-alerts.ts";
import { grafanaQueries } from "../grafana-alerts.ts";
import { metric, type RuleTest, statuses, target } from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const BELOW_THRESHOLD = [{ labels: "{}", value: -2 }];

/** The queries of Grafana-managed rules: none may be empty, whatever data are missing. */
export function grafanaTests(context: AlertContext): readonly RuleTest[] {
  const all = allAlerts(context).flatMap(({ alerts }) => alerts);
  const endpointDown = all.filter(
    ({ name, severity }) => name === "SynclagEndpointDown" && severity === "critical",
  );
  const expectations = endpointDown.flatMap(grafanaQueries).map(({ refId, expr }) => ({
    expr,
    at: "10m",
    samples:
      refId === "A"
        ? [SUBGRAPH, MULTICHAIN].map(alerting)
        : [{ labels: "{}", value: refId === "B" ? -1 : 0 }],
  }));
  return [
    {
      name: "Grafana's SynclagEndpointDown has its alerts while every target is down and no lag is known",
      series: [SUBGRAPH, MULTICHAIN].flatMap((labels) => [
        ...statuses(labels, "unreachable"),
        metric("synclag_up", labels, 0),
      ]),
      expect: [],
      queries: expectations,
    },
    {
      name: "No query of Grafana's rules is empty where Prometheus has nothing at all",
      series: [],
      expect: [],
      queries: all
        // These two fire then.
        .filter(({ name }) => name !== "Watchdog" && name !== "SynclagAbsent")
        .map((alert) => ({ expr: grafanaQueries(alert)[0]?.expr ?? "", at: "1m", samples: BELOW_THRESHOLD })),
    },
  ];
}

function alerting(labels: typeof SUBGRAPH): { readonly labels: string; readonly value: number } {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${String(value)}"`);
  return { labels: `{${pairs.join(", ")}}`, value: 1 };
}
