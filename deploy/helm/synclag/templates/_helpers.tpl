{{- define "synclag.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "synclag.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "synclag" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "synclag.labels" -}}
{{ include "synclag.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "synclag.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "synclag.configMap" -}}
{{- .Values.existingConfigMap | default (include "synclag.name" .) -}}
{{- end -}}

{{/* A probe of the container. Its argument is a dict of the root and the path. */}}
{{- define "synclag.probe" -}}
{{- $scheme := .root.Values.web.probeScheme -}}
{{- if eq $scheme "TCP" -}}
tcpSocket:
  port: http
{{- else -}}
httpGet:
  path: {{ .path }}
  port: http
  scheme: {{ $scheme }}
{{- end -}}
{{- end -}}
