{{- define "gatehouse.alertLabels" -}}
{{- merge (dict) .values.alertLabels (dict "severity" .severity) | toYaml -}}
{{- end -}}

{{- /* The section of docs/runbooks.md for an alert. Takes root and alert. */ -}}
{{- define "gatehouse.runbook" -}}
{{- $page := "docs/runbooks.md" -}}
{{- with .root.Chart.Home -}}{{- $page = printf "%s/blob/v%s/docs/runbooks.md" . $.root.Chart.AppVersion -}}{{- end -}}
{{- printf "%s#%s" (.root.Values.metrics.prometheusRule.runbookUrl | default $page) (lower .alert) -}}
{{- end -}}
