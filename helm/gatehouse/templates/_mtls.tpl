{{- /* The Ingress annotations for client certificates, as YAML. */ -}}
{{- define "gatehouse.mtlsIngressAnnotations" -}}
{{- $mtls := .Values.mtls -}}
{{- $name := printf "%s-mtls" (include "gatehouse.fullname" .) -}}
{{- if and $mtls.enabled (eq $mtls.mode "forwarded") $mtls.forwarded.createProxyConfig -}}
{{- with $mtls.forwarded -}}
{{- $verify := ternary "on" "optional" .required -}}
{{- if eq .proxy "ingress-nginx" -}}
nginx.ingress.kubernetes.io/auth-tls-secret: {{ .caSecret | quote }}
nginx.ingress.kubernetes.io/auth-tls-verify-client: {{ $verify | quote }}
nginx.ingress.kubernetes.io/auth-tls-pass-certificate-to-upstream: "true"
{{- else if eq .proxy "haproxy" -}}
haproxy-ingress.github.io/auth-tls-secret: {{ .caSecret | quote }}
haproxy-ingress.github.io/auth-tls-verify-client: {{ $verify | quote }}
haproxy-ingress.github.io/auth-tls-cert-header: "true"
{{- else if eq .proxy "traefik" -}}
traefik.ingress.kubernetes.io/router.tls: "true"
traefik.ingress.kubernetes.io/router.tls.options: {{ printf "%s-%s@kubernetescrd" $.Release.Namespace $name }}
traefik.ingress.kubernetes.io/router.middlewares: {{ printf "%s-%s@kubernetescrd" $.Release.Namespace $name }}
{{- else if eq .proxy "aws-alb" -}}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/mutual-authentication: {{ list (dict "port" 443 "mode" "verify" "trustStore" .awsTrustStoreArn) | toJson | quote }}
{{- else if eq .proxy "aws-alb-passthrough" -}}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/mutual-authentication: {{ list (dict "port" 443 "mode" "passthrough") | toJson | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
