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

{{/* Not empty where the gateways have a store, and so control planes. */}}
{{- define "twinyard.hasStore" -}}
{{- if or .Values.store.existingSecret .Values.config.store }}true{{ end }}
{{- end }}

{{/* Not empty where a Lease elects the control plane. */}}
{{- define "twinyard.hasLease" -}}
{{- if and .Values.leaderElection.enabled (include "twinyard.hasStore" .) }}true{{ end }}
{{- end }}

{{/* A Role or ClusterRole with its binding to the gateways: context, kind, mode, namespace, rules. */}}
{{- define "twinyard.role" -}}
{{- $name := printf "%s-%s" (include "twinyard.name" .context) .mode }}
{{- if eq .kind "ClusterRole" }}{{ $name = printf "%s-%s" .context.Release.Namespace $name }}{{ end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ $name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "twinyard.labels" .context | nindent 4 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ $name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "twinyard.labels" .context | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: {{ .kind }}, name: {{ $name }} }
subjects: [{ kind: ServiceAccount, name: {{ include "twinyard.name" .context }}, namespace: {{ .context.Release.Namespace }} }]
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
{{- if include "twinyard.hasLease" . }}{{ $_ := set $config "leader_lease" (printf "%s/%s" .Release.Namespace (include "twinyard.name" .)) }}{{ end }}
{{- if .Values.record }}{{ $_ := set $config "record" "/var/lib/twinyard/traffic.jsonl" }}{{ end }}
{{- mergeOverwrite $config .Values.config | toYaml }}
{{- end }}
