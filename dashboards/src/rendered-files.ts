import type { AlertContext } from "./alert.ts";
import { renderAlertsDocument } from "./alerts-document.ts";
import { renderBoard } from "./boards/board.ts";
import { chainBoard } from "./boards/chain-board.ts";
import { endpointBoard } from "./boards/endpoint-board.ts";
import { fleetBoard } from "./boards/fleet-board.ts";
import { selfMonitoringBoard } from "./boards/self-monitoring-board.ts";
import { renderChartLinks } from "./chart-links.ts";
import { renderDemoKit } from "./demo-kit.ts";
import { renderGrafanaAlerts } from "./grafana-alerts.ts";
import { renderAlertRules, renderRecordingRules } from "./prometheus-rules.ts";
import { SETTINGS, type Settings } from "./settings.ts";
import { realTime } from "./time-scale.ts";

/** All generated files by their path relative to dashboards/, with the links and the selector of the settings. */
export function renderedFiles(settings: Settings = SETTINGS): ReadonlyMap<string, string> {
  const context: AlertContext = { settings, time: realTime };
  const rules = [
    ["synclag-alerts.yml", renderAlertRules(context)],
    ["synclag-recording.yml", renderRecordingRules(context)],
  ] as const;
  const boards = [fleetBoard(settings), chainBoard(), endpointBoard(), selfMonitoringBoard()].map(
    (board) => [`${board.uid}.json`, renderBoard(board, settings)] as const,
  );
  return new Map([
    ...rules.map(([name, text]) => [`rules/${name}`, text] as const),
    ["grafana-alerts/rules.yml", renderGrafanaAlerts(context)],
    ...boards,
    ["../docs/ALERTS.md", renderAlertsDocument(context)],
    ["../deploy/helm/synclag/templates/_links.tpl", renderChartLinks(settings)],
    ...[...renderDemoKit(context)].map(([path, text]) => [`../deploy/demo/${path}`, text] as const),
  ]);
}
