{{- /* A text of the values, in which templates are evaluated. Takes root and text. */ -}}
{{- define "gatehouse.tpl" -}}
{{- if contains "{{" .text -}}{{- tpl .text .root -}}{{- else -}}{{- .text -}}{{- end -}}
{{- end -}}

{{- /*
A value as YAML, in which templates in texts are evaluated. A text that looks like a number or a boolean is
quoted. Takes root and value.
*/ -}}
{{- define "gatehouse.yaml" -}}
{{- toYaml (include "gatehouse.evaluated" . | fromJson).value -}}
{{- end -}}

{{- define "gatehouse.evaluated" -}}
{{- $root := .root -}}
{{- $value := .value -}}
{{- /* As a dependency in Helm 3, the kind of a number is a string, too. */ -}}
{{- if typeIs "string" .value -}}
{{- $value = include "gatehouse.tpl" (dict "root" $root "text" .value) -}}
{{- else if kindIs "map" .value -}}
{{- $value = dict -}}
{{- range $key, $inner := .value -}}
{{- $_ := set $value $key (include "gatehouse.evaluated" (dict "root" $root "value" $inner) | fromJson).value -}}
{{- end -}}
{{- else if kindIs "slice" .value -}}
{{- $value = list -}}
{{- range .value -}}
{{- $value = append $value (include "gatehouse.evaluated" (dict "root" $root "value" .) | fromJson).value -}}
{{- end -}}
{{- end -}}
{{- dict "value" $value | toJson -}}
{{- end -}}

{{- define "gatehouse.namespace" -}}
{{- include "gatehouse.tpl" (dict "root" . "text" (default .Release.Namespace .Values.namespaceOverride)) -}}
{{- end -}}

{{- define "gatehouse.name" -}}
{{- include "gatehouse.tpl" (dict "root" . "text" (default .Chart.Name .Values.nameOverride)) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- include "gatehouse.tpl" (dict "root" . "text" .Values.fullnameOverride) | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "gatehouse.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- /* The longest suffix of ours is -migrations. */ -}}
{{- $full | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toYaml }}
{{- end -}}

{{- /*
The labels of an object, as YAML. The chart's own win over those of the object, and these over
commonLabels, so that no key is there twice. Takes root, component and optionally labels.
*/ -}}
{{- define "gatehouse.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "gatehouse"
-}}
{{- toYaml (merge (include "gatehouse.componentLabels" . | fromYaml) $own (.labels | default dict) .root.Values.commonLabels) -}}
{{- end -}}

{{- /*
The head of an object. Its annotations win over commonAnnotations. Takes root, name, component, and optionally
labels and annotations.
*/ -}}
{{- define "gatehouse.metadata" -}}
metadata:
  name: {{ .name | toYaml }}
  namespace: {{ include "gatehouse.namespace" .root | toYaml }}
  labels:
    {{- include "gatehouse.labels" . | nindent 4 }}
  {{- with merge (dict) (.annotations | default dict) (.root.Values.commonAnnotations | default dict) }}
  annotations:
    {{- include "gatehouse.yaml" (dict "root" $.root "value" .) | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /*
The labels of a pod, without the chart's version, which would roll every pod at each new chart. Labels
of the values never replace those that selectors go by. Takes root, component and optionally labels.
*/ -}}
{{- define "gatehouse.podLabels" -}}
{{- toYaml (merge (include "gatehouse.componentLabels" . | fromYaml) (.labels | default dict) .root.Values.commonLabels) -}}
{{- end -}}

{{- /* What selectors go by. Takes root and component. */ -}}
{{- define "gatehouse.componentLabels" -}}
{{ include "gatehouse.selectorLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "gatehouse.serverSelector" -}}
{{ include "gatehouse.componentLabels" (dict "root" . "component" "server") }}
{{- end -}}

{{- define "gatehouse.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- include "gatehouse.tpl" (dict "root" . "text" (default (include "gatehouse.fullname" .) .Values.serviceAccount.name)) -}}
{{- else -}}
{{- include "gatehouse.tpl" (dict "root" . "text" (default "default" .Values.serviceAccount.name)) -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.image" -}}
{{- $registry := .Values.global.imageRegistry | default .Values.image.registry -}}
{{- $repository := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") -}}
{{- $tagged := printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- with .Values.image.digest }}{{ printf "%s@%s" $tagged . }}{{ else }}{{ $tagged }}{{ end -}}
{{- end -}}

{{- /* imagePullSecrets and those of all charts, which may be names alone, as a JSON list of {name}. */ -}}
{{- define "gatehouse.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- range concat .Values.imagePullSecrets .Values.global.imagePullSecrets -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- toJson (uniq $secrets) -}}
{{- end -}}

{{- define "gatehouse.claimName" -}}
{{- include "gatehouse.tpl" (dict "root" . "text" (default (printf "%s-data" (include "gatehouse.fullname" .)) .Values.persistence.existingClaim)) -}}
{{- end -}}

{{- /* What every container of the image has in common. */ -}}
{{- define "gatehouse.container" -}}
image: {{ include "gatehouse.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What every pod has in common. */ -}}
{{- define "gatehouse.pod" -}}
enableServiceLinks: false
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "gatehouse.imagePullSecrets" . | fromJsonArray }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | toYaml }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . | toYaml }}
{{- end }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . | toYaml }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Constraints with the pods' own labels where the operator gave none. */ -}}
{{- define "gatehouse.topologySpread" -}}
{{- $selector := dict "matchLabels" (include "gatehouse.serverSelector" . | fromYaml) -}}
{{- $constraints := list -}}
{{- range .Values.topologySpreadConstraints -}}
{{- if hasKey . "labelSelector" -}}
{{- $constraints = append $constraints . -}}
{{- else -}}
{{- /* Without the hash, old pods of a rollout would count. */ -}}
{{- $constraints = append $constraints (merge (dict "labelSelector" $selector "matchLabelKeys" (list "pod-template-hash")) .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end -}}

{{- /* How a scrape authorises itself, as YAML: where the server's own token comes from, or what the values say. */ -}}
{{- define "gatehouse.metricsAuthorization" -}}
{{- $authorization := deepCopy .Values.metrics.serviceMonitor.authorization -}}
{{- if not $authorization -}}
{{- range .Values.extraEnv -}}
{{- if and (eq .name "METRICS_TOKEN") (dig "valueFrom" "secretKeyRef" nil .) -}}
{{- $authorization = dict "credentials" (pick .valueFrom.secretKeyRef "name" "key") -}}
{{- end -}}
{{- end -}}
{{- with .Values.secrets.METRICS_TOKEN -}}
{{- $authorization = dict "credentials" (dict "name" (default (include "gatehouse.fullname" $) .existingSecret) "key" (default "METRICS_TOKEN" .key)) -}}
{{- end -}}
{{- end -}}
{{- if $authorization -}}
{{- toYaml (merge $authorization (dict "type" "Bearer")) -}}
{{- end -}}
{{- end -}}
