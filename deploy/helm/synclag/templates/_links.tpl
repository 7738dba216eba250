{{/* Generated from dashboards/src by `npm run generate`: do not edit. */}}
{{- define "synclag.linked" -}}
{{- $own := .root.Values.links.synclag | default (printf "http://%s.%s:%v" (include "synclag.name" .root) .root.Release.Namespace .root.Values.service.port) -}}
{{- $runbooks := .root.Values.links.runbooks | default "http://localhost:9855/docs/runbooks" -}}
{{- $selector := .root.Values.prometheusRule.selector | default "job=~\".*\"" -}}
{{- .text
  | replace "http://localhost:9855/docs/runbooks" $runbooks
  | replace "runbook_url: docs/runbooks/" (printf "runbook_url: %s/" (.root.Values.links.runbooks | default "docs/runbooks"))
  | replace "http://localhost:3000" .root.Values.links.grafana
  | replace "http://localhost:9855" $own
  | replace "job=~\".*\"" $selector -}}
{{- end -}}
