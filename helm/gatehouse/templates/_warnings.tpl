{{- /* What works and is probably not wanted, as YAML. */ -}}
{{- define "gatehouse.warnings" -}}
{{- $warnings := list -}}
{{- $isPublic := or .Values.ingress.enabled .Values.httpRoute.enabled (ne .Values.service.type "ClusterIP") -}}
{{- if and (include "gatehouse.isTls" .) (or .Values.ingress.enabled .Values.httpRoute.enabled) -}}
{{- $warnings = append $warnings "tls.existingSecret makes the server speak HTTPS: the proxy has to as well, by a BackendTLSPolicy for the Gateway, or an annotation of the Ingress such as nginx.ingress.kubernetes.io/backend-protocol: HTTPS." -}}
{{- end -}}
{{- if and (not (include "gatehouse.hasDatabase" .)) (not .Values.persistence.enabled) -}}
{{- $warnings = append $warnings "persistence.enabled is off and there is no DATABASE_URL: every account is gone with the pod." -}}
{{- end -}}
{{- if and $isPublic (not (include "gatehouse.value" (dict "root" . "name" "SERVICE_TRUSTED_PROXIES"))) -}}
{{- $warnings = append $warnings "config.SERVICE_TRUSTED_PROXIES is not set: every client has the proxy's address, and they share one rate limit." -}}
{{- end -}}
{{- if and (gt (include "gatehouse.maxReplicas" . | int) 1) (contains "polling" (include "gatehouse.value" (dict "root" . "name" "SERVICE_UPDATES_TRANSPORTS"))) -}}
{{- $warnings = append $warnings "SERVICE_UPDATES_TRANSPORTS has polling and there is more than one replica: the proxy needs sticky sessions by cookie, or clients get 400." -}}
{{- end -}}
{{- if include "gatehouse.metricsPort" . -}}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.metricsFrom) -}}
{{- $warnings = append $warnings "networkPolicy.metricsFrom is empty: no peer reaches the metrics. Name the pods of your Prometheus." -}}
{{- end -}}
{{- if not (or .Values.networkPolicy.enabled (include "gatehouse.isGiven" (dict "root" . "name" "METRICS_TOKEN"))) -}}
{{- $warnings = append $warnings "networkPolicy.enabled is off and there is no secrets.METRICS_TOKEN: every pod that reaches the server reads the metrics." -}}
{{- end -}}
{{- end -}}
{{- if and .Values.administration.enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.adminFrom) -}}
{{- $warnings = append $warnings (printf "networkPolicy.adminFrom is empty: no peer reaches the administration API. From your machine: kubectl -n %s port-forward svc/%s-admin 3100:admin" (include "gatehouse.namespace" .) (include "gatehouse.fullname" .)) -}}
{{- end -}}
{{- with .Values.mtls -}}
{{- if and .enabled (eq .mode "forwarded") -}}
{{- if eq .forwarded.proxy "ingress-nginx" -}}
{{- $warnings = append $warnings "ingress-nginx gets no security fixes any more. It sets the certificate headers only for hosts that have auth-tls-secret: another Ingress that leads to the same Service, without it, passes on headers that the client made up. Make sure there is none, or move to a Gateway." -}}
{{- end -}}
{{- if not $.Values.networkPolicy.ingressFrom -}}
{{- $warnings = append $warnings "networkPolicy.ingressFrom is empty: pods of the cluster reach the server past the proxy. Their certificate headers are ignored unless their address is in mtls.forwarded.trustedProxies, so keep that list to the proxy's own pods." -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $warnings -}}
{{- end -}}
