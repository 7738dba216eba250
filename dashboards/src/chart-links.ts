import { RUNBOOKS_FOLDER } from "./alert.ts";
import type { Settings } from "./settings.ts";

/**
 * The chart's template `synclag.linked`. It replaces the default links and selector in a rendered file by those of the chart's
 * values. Its argument is a dict of the root and the text.
 */
export function renderChartLinks({ runbooksUrl, grafanaUrl, synclagUrl, selector }: Settings): string {
  return `{{/* Generated from dashboards/src by \`npm run generate\`: do not edit. */}}
{{- define "synclag.linked" -}}
{{- $own := .root.Values.links.synclag | default (printf "http://%s.%s:%v" (include "synclag.name" .root) .root.Release.Namespace .root.Values.service.port) -}}
{{- $runbooks := .root.Values.links.runbooks | default ${JSON.stringify(runbooksUrl)} -}}
{{- $selector := .root.Values.prometheusRule.selector | default ${JSON.stringify(selector)} -}}
{{- .text
  | replace ${JSON.stringify(runbooksUrl)} $runbooks
  | replace "runbook_url: ${RUNBOOKS_FOLDER}/" (printf "runbook_url: %s/" (.root.Values.links.runbooks | default ${JSON.stringify(RUNBOOKS_FOLDER)}))
  | replace ${JSON.stringify(grafanaUrl)} .root.Values.links.grafana
  | replace ${JSON.stringify(synclagUrl)} $own
  | replace ${JSON.stringify(selector)} $selector -}}
{{- end -}}
`;
}
