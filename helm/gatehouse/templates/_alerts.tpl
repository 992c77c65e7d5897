{{- define "gatehouse.alertLabels" -}}
{{- merge (dict) .values.alertLabels (dict "severity" .severity) | toYaml -}}
{{- end -}}
