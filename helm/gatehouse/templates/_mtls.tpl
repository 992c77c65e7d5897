{{- /*
The middlewares of ingress.annotations and the one of the chart, as YAML. That one comes last: it replaces the
header that a client or another middleware wrote.
*/ -}}
{{- define "gatehouse.mtlsMiddlewares" -}}
{{- $name := "traefik.ingress.kubernetes.io/router.middlewares" -}}
{{- $own := get (include "gatehouse.mtlsIngressAnnotations" . | fromYaml) $name -}}
{{- $given := get .Values.ingress.annotations $name -}}
{{- if and $own $given (not (has $own (splitList "," (nospace $given)))) -}}
{{- dict $name (printf "%s,%s" $given $own) | toYaml -}}
{{- end -}}
{{- end -}}

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
traefik.ingress.kubernetes.io/router.tls.options: {{ printf "%s-%s@kubernetescrd" (include "gatehouse.namespace" $) $name }}
traefik.ingress.kubernetes.io/router.middlewares: {{ printf "%s-%s@kubernetescrd" (include "gatehouse.namespace" $) $name }}
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
