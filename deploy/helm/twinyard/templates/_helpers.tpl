{{- define "twinyard.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "twinyard.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "twinyard.labels" -}}
{{ include "twinyard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* twinyard.yaml: what the values say, then `config` over it. A selector of null removes the default one. */}}
{{- define "twinyard.config" -}}
{{- $kube := dict }}
{{- range $name, $value := .Values.kube }}{{ if $value }}{{ $_ := set $kube $name $value }}{{ end }}{{ end }}
{{- $config := dict
  "listen" (dict "host" "0.0.0.0" "port" 8080)
  "admin" (dict "host" "0.0.0.0" "port" 8081)
  "policy" (dict "routing" (dict "policy" .Values.policy))
  "drain_ms" (mul .Values.drainSeconds 1000)
  "data_dir" "/var/lib/twinyard" }}
{{- if $kube }}{{ $_ := set $config "kube" $kube }}{{ end }}
{{- if .Values.record }}{{ $_ := set $config "record" "/var/lib/twinyard/traffic.jsonl" }}{{ end }}
{{- mergeOverwrite $config .Values.config | toYaml }}
{{- end }}
