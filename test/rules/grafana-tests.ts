import type { AlertContext } from "../../dashboards/src/alert.ts";
import { allAlerts } from "../../dashboards/src/alerts/all-alerts.ts";
import { grafanaQueries } from "../../dashboards/src/grafana-alerts.ts";
import { fleet, target } from "./fleet-series.ts";
import { labelsOf, type RuleTest } from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");

/** The queries of Grafana-managed rules: none may be empty, whatever data are missing. */
export function grafanaTests(context: AlertContext): readonly RuleTest[] {
  const all = allAlerts(context).flatMap(({ alerts }) => alerts);
  const down = all.filter(({ name }) => name === "SynclagEndpointDown").flatMap(grafanaQueries);
  return [
    {
      name: "Grafana's SynclagEndpointDown has its alert, and says what is unknown",
      series: fleet(
        20,
        { labels: SUBGRAPH, timeline: "unreachable" },
        { labels: MULTICHAIN, timeline: "ok", lastSuccess: -1_000 },
      ),
      fires: { "10m": [{ name: "SynclagEndpointDown", severity: "warning", labels: SUBGRAPH }] },
      queries: down.map(({ refId, expr }) => ({
        expr,
        at: "10m",
        samples:
          {
            A: [{ labels: labelsOf({ ...SUBGRAPH, testnet: "false" }), value: 1 }],
            S: [SUBGRAPH, MULTICHAIN].map((labels) => ({ labels: labelsOf(labels), value: 0 })),
            C: [{ labels: "{}", value: 0 }],
          }[refId] ?? [],
      })),
    },
    {
      name: "No query of Grafana's rules is empty where Prometheus has nothing at all",
      series: [],
      fires: { "1m": [] },
      queries: all
        // These two alerts fire then.
        .filter(({ name }) => name !== "SynclagWatchdog" && name !== "SynclagAbsent")
        .flatMap(grafanaQueries)
        .filter(({ refId }) => refId === "A")
        .map(({ expr }) => ({ expr, at: "1m", samples: [{ labels: "{}", value: -2 }] })),
    },
  ];
}
