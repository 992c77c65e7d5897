{{- /* What no cluster can run. What a configuration means is reported by gatehouse config check. All reasons are reported at once. */ -}}
{{- define "gatehouse.refuse" -}}
{{- with include "gatehouse.refusal" . -}}{{- fail . -}}{{- end -}}
{{- end -}}

{{- /* The message about these values, or nothing. */ -}}
{{- define "gatehouse.refusal" -}}
{{- $reasons := list -}}
{{- range $subject := list "secret" "replica" "provider" "resourceServer" "mtls" "other" -}}
{{- $reasons = concat $reasons (include (printf "gatehouse.%sRefusals" $subject) $ | fromJsonArray) -}}
{{- end -}}
{{- if $reasons -}}
{{- printf "\n\nThe values of Gatehouse have %d problem(s):\n  - %s\n" (len $reasons) (join "\n  - " $reasons) -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.secretRefusals" -}}
{{- $reasons := list -}}
{{- $values := .Values -}}
{{- $facts := include "gatehouse.variables" . | fromJson -}}
{{- $extra := list -}}
{{- range $values.extraEnv -}}{{- $extra = append $extra .name -}}{{- end -}}
{{- range $name := $facts.secrets -}}
{{- $file := print $name "_FILE" -}}
{{- if hasKey $values.config $name -}}
{{- $reasons = append $reasons (printf "config.%s is a secret, and a ConfigMap is no place for one: give it as secrets.%s.existingSecret (or .value)." $name $name) -}}
{{- end -}}
{{- if hasKey $values.secrets $name -}}
{{- if get $values.config $file -}}
{{- $reasons = append $reasons (printf "secrets.%s and config.%s are both set: keep one of them." $name $file) -}}
{{- end -}}
{{- if or (has $name $extra) (has $file $extra) -}}
{{- $reasons = append $reasons (printf "secrets.%s and %s in extraEnv are both set, which the server refuses: keep one of them." $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name := keys $values.config | sortAlpha -}}
{{- if and (hasPrefix "OTEL_" $name) (hasSuffix "HEADERS" $name) -}}
{{- $reasons = append $reasons (printf "config.%s holds credentials as a rule, and a ConfigMap is no place for them: give it in extraEnv, from a Secret." $name) -}}
{{- end -}}
{{- end -}}
{{- if and (include "gatehouse.hasDatabase" .) (eq $values.migrations.mode "hook") (index $values.migrations.annotations "helm.sh/hook") -}}
{{- range $name := list "DATABASE_URL" "SERVICE_MASTER_SECRET" "SERVICE_MASTER_SECRET_PREVIOUS" -}}
{{- if get (get $values.secrets $name | default dict) "value" -}}
{{- $reasons = append $reasons (printf "secrets.%s.value cannot reach the migration hook, which runs before the chart's own Secret exists: use secrets.%s.existingSecret, or migrations.mode=initContainer." $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- define "gatehouse.replicaRefusals" -}}
{{- $reasons := list -}}
{{- if gt (include "gatehouse.maxReplicas" . | int) 1 -}}
{{- $what := ternary (printf "autoscaling.maxReplicas=%v" .Values.autoscaling.maxReplicas) (printf "replicaCount=%v" .Values.replicaCount) .Values.autoscaling.enabled -}}
{{- if not (include "gatehouse.hasDatabase" .) -}}
{{- $reasons = append $reasons (printf "%s needs secrets.DATABASE_URL: with the embedded database each replica would have accounts of its own." $what) -}}
{{- end -}}
{{- if not (include "gatehouse.isGiven" (dict "root" . "name" "REDIS_URL")) -}}
{{- $reasons = append $reasons (printf "%s needs secrets.REDIS_URL: without it replicas do not share updates and revocations, and each has rate limits of its own." $what) -}}
{{- end -}}
{{- end -}}
{{- if and (not (include "gatehouse.hasDatabase" .)) .Values.strategy (ne (get .Values.strategy "type") "Recreate") -}}
{{- $reasons = append $reasons "strategy must be {type: Recreate} with the embedded database: in a rolling update two pods would open the same files. Leave strategy out, or set secrets.DATABASE_URL." -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- $reasons = append $reasons "autoscaling.minReplicas is larger than autoscaling.maxReplicas." -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (not .Values.autoscaling.targetCPUUtilizationPercentage) (not .Values.autoscaling.metrics) -}}
{{- $reasons = append $reasons "autoscaling has nothing to go by: set autoscaling.targetCPUUtilizationPercentage or autoscaling.metrics." -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- define "gatehouse.providerRefusals" -}}
{{- $reasons := list -}}
{{- $ids := list -}}
{{- $values := .Values -}}
{{- range $index, $entry := $values.providers.list -}}
{{- $ids = append $ids $entry.id -}}
{{- $place := printf "providers.list[%d] (%s)" $index $entry.id -}}
{{- if hasKey $entry "clientSecret" -}}
{{- $reasons = append $reasons (printf "%s has its clientSecret in the open, and a ConfigMap is no place for one: give it as providers.clientSecrets.%s." $place $entry.id) -}}
{{- else if and (hasKey $entry "clientSecretFile") (hasKey $values.providers.clientSecrets $entry.id) -}}
{{- $reasons = append $reasons (printf "%s has a clientSecretFile, and there is providers.clientSecrets.%s: keep one of them." $place $entry.id) -}}
{{- else if not (or (hasKey $entry "clientSecretFile") (hasKey $entry "clientKeyFile") (hasKey $entry "clientAssertionFile") (hasKey $values.providers.clientSecrets $entry.id)) -}}
{{- $reasons = append $reasons (printf "%s has no client secret: set providers.clientSecrets.%s." $place $entry.id) -}}
{{- end -}}
{{- $given := get $values.providers.signalSecrets $entry.id | default dict -}}
{{- range $secret := include "gatehouse.signalSecretNames" $ | fromYamlArray -}}
{{- $found := get (include "gatehouse.signalSection" (dict "entry" $entry "secret" $secret) | fromJson) "found" -}}
{{- $isPresent := kindIs "map" $found -}}
{{- $section := ternary $found dict $isPresent -}}
{{- $field := printf "signals.%s.%s" (join "." $secret.section) $secret.field -}}
{{- $value := printf "providers.signalSecrets.%s.%s" $entry.id $secret.name -}}
{{- if hasKey $section $secret.field -}}
{{- $reasons = append $reasons (printf "%s has its %s in the open, and a ConfigMap is no place for one: give it as %s." $place $field $value) -}}
{{- else if and (hasKey $section (print $secret.field "File")) (hasKey $given $secret.name) -}}
{{- $reasons = append $reasons (printf "%s has %sFile, and there is %s: keep one of them." $place $field $value) -}}
{{- else if and $isPresent $secret.isNeeded (not (hasKey $section (print $secret.field "File"))) (not (hasKey $given $secret.name)) -}}
{{- $reasons = append $reasons (printf "%s has no %s: set %s." $place $field $value) -}}
{{- else if and (not $isPresent) (hasKey $given $secret.name) -}}
{{- $reasons = append $reasons (printf "%s is set, and %s has no signals.%s." $value $place (join "." $secret.section)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $id := keys $values.providers.signalSecrets | sortAlpha -}}
{{- if not (has $id $ids) -}}
{{- $reasons = append $reasons (printf "providers.signalSecrets.%s belongs to no entry of providers.list." $id) -}}
{{- end -}}
{{- end -}}
{{- range $id := keys $values.providers.clientSecrets | sortAlpha -}}
{{- if not (has $id $ids) -}}
{{- $reasons = append $reasons (printf "providers.clientSecrets.%s belongs to no entry of providers.list." $id) -}}
{{- end -}}
{{- end -}}
{{- if and $values.providers.list $values.providers.existingSecret -}}
{{- $reasons = append $reasons "providers.list and providers.existingSecret are both set: keep one of them." -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- define "gatehouse.resourceServerRefusals" -}}
{{- $reasons := list -}}
{{- $ids := list -}}
{{- $secrets := .Values.resourceServers.clientSecrets -}}
{{- range $index, $entry := .Values.resourceServers.list -}}
{{- $ids = append $ids $entry.id -}}
{{- $place := printf "resourceServers.list[%d] (%s)" $index $entry.id -}}
{{- if and (hasKey $entry "client") (hasKey $secrets $entry.id) -}}
{{- $reasons = append $reasons (printf "%s has a client, and there is resourceServers.clientSecrets.%s: keep one of them." $place $entry.id) -}}
{{- else if not (or (hasKey $entry "client") (hasKey $secrets $entry.id)) -}}
{{- $reasons = append $reasons (printf "%s has no client: set resourceServers.clientSecrets.%s." $place $entry.id) -}}
{{- end -}}
{{- end -}}
{{- range $id := keys $secrets | sortAlpha -}}
{{- if not (has $id $ids) -}}
{{- $reasons = append $reasons (printf "resourceServers.clientSecrets.%s belongs to no entry of resourceServers.list." $id) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.resourceServers.programClients (not .Values.resourceServers.list) -}}
{{- $reasons = append $reasons "resourceServers.programClients has programs, and resourceServers.list no backend for them." -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- define "gatehouse.mtlsRefusals" -}}
{{- $reasons := list -}}
{{- $joined := list "traefik.ingress.kubernetes.io/router.middlewares" "alb.ingress.kubernetes.io/target-type" -}}
{{- range $name, $value := omit (include "gatehouse.mtlsIngressAnnotations" . | fromYaml) (first $joined) (last $joined) -}}
{{- if ne $value (get $.Values.ingress.annotations $name | default $value) -}}
{{- $reasons = append $reasons (printf "ingress.annotations has another %s than mtls.forwarded.createProxyConfig makes, %q: keep one of them." $name $value) -}}
{{- end -}}
{{- end -}}
{{- with .Values.mtls -}}
{{- if and .enabled (eq .mode "forwarded") -}}
{{- if .forwarded.createProxyConfig -}}
{{- if and (not .forwarded.caSecret) (has .forwarded.proxy (list "envoy-gateway" "traefik" "haproxy" "ingress-nginx")) -}}
{{- $reasons = append $reasons (printf "mtls.forwarded.caSecret is missing: %s would not know whose certificates to accept." .forwarded.proxy) -}}
{{- end -}}
{{- if and (eq .forwarded.proxy "aws-alb") (not .forwarded.awsTrustStoreArn) -}}
{{- $reasons = append $reasons "mtls.forwarded.awsTrustStoreArn is missing: the load balancer would not know whose certificates to accept." -}}
{{- end -}}
{{- if has .forwarded.proxy (list "istio" "rfc9440" "plain") -}}
{{- $reasons = append $reasons (printf "mtls.forwarded.createProxyConfig: the chart cannot make the configuration of %s; see docs/deploy-kubernetes.md." .forwarded.proxy) -}}
{{- end -}}
{{- if and (has .forwarded.proxy (list "haproxy" "ingress-nginx" "aws-alb" "aws-alb-passthrough" "traefik")) (not $.Values.ingress.enabled) -}}
{{- $reasons = append $reasons (printf "mtls.forwarded.createProxyConfig needs ingress.enabled: %s is configured by annotations of the Ingress." .forwarded.proxy) -}}
{{- end -}}
{{- if and (eq .forwarded.proxy "envoy-gateway") (not .forwarded.gatewayName) (not $.Values.httpRoute.parentRefs) -}}
{{- $reasons = append $reasons "mtls.forwarded.gatewayName is missing: the ClientTrafficPolicy needs a Gateway." -}}
{{- end -}}
{{- $parentNamespace := dig "namespace" "" (first $.Values.httpRoute.parentRefs | default dict) -}}
{{- if and (eq .forwarded.proxy "envoy-gateway") (not .forwarded.gatewayName) $parentNamespace (ne $parentNamespace (include "gatehouse.namespace" $)) -}}
{{- $reasons = append $reasons (printf "mtls.forwarded.createProxyConfig: a ClientTrafficPolicy takes effect only in the namespace of its Gateway, which is %s (httpRoute.parentRefs[0]), not %s. Make it there; see docs/deploy-kubernetes.md." $parentNamespace (include "gatehouse.namespace" $)) -}}
{{- end -}}
{{- end -}}
{{- else if .enabled -}}
{{- if not .direct.certificate.secretName -}}
{{- $reasons = append $reasons "mtls.direct.certificate.secretName is missing: the server ends TLS itself in mode direct." -}}
{{- end -}}
{{- if and .direct.tlsRoute.enabled (not .direct.tlsRoute.parentRefs) -}}
{{- $reasons = append $reasons "mtls.direct.tlsRoute.parentRefs is empty: no gateway would serve it." -}}
{{- end -}}
{{- with .direct.certificate.certManager -}}
{{- if and .enabled (not .issuerRef.name) -}}
{{- $reasons = append $reasons "mtls.direct.certificate.certManager.issuerRef.name is missing." -}}
{{- end -}}
{{- if and .enabled (not .dnsNames) (not $.Values.mtls.direct.tlsRoute.hostnames) -}}
{{- $reasons = append $reasons "mtls.direct.certificate.certManager.dnsNames is missing." -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .clientCa.existingConfigMap .clientCa.existingSecret -}}
{{- $reasons = append $reasons "mtls.clientCa.existingConfigMap and mtls.clientCa.existingSecret are both set: keep one of them." -}}
{{- end -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- define "gatehouse.otherRefusals" -}}
{{- $reasons := list -}}
{{- $values := .Values -}}
{{- range $name, $_ := include "gatehouse.derivedConfig" . | fromJson -}}
{{- if not (kindIs "invalid" (get $values.config $name)) -}}
{{- if hasKey $values.config $name -}}
{{- $reasons = append $reasons (printf "config.%s is already said by the values of %s: keep one of them." $name (ternary "tls" (ternary "caBundle" (ternary "administration" (ternary "mtls" (ternary "resourceServers" "providers" (regexMatch "^AUTH_(RESOURCE|PROGRAM)_" $name)) (contains "MTLS" $name)) (hasPrefix "ADMIN_" $name)) (eq $name "SERVICE_CA_BUNDLE")) (hasPrefix "SERVICE_TLS_" $name))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.caBundle -}}
{{- $sources := list -}}
{{- range $source := list "pem" "existingConfigMap" "existingSecret" -}}
{{- if get $.Values.caBundle $source -}}{{- $sources = append $sources (print "caBundle." $source) -}}{{- end -}}
{{- end -}}
{{- if gt (len $sources) 1 -}}
{{- $reasons = append $reasons (printf "%s are set: keep one of them." (join " and " $sources)) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "HTTPS_PROXY" "HTTP_PROXY" -}}
{{- if contains "@" (get $values.config $name | default "" | toString) -}}
{{- $reasons = append $reasons (printf "config.%s has credentials, and a ConfigMap is no place for them: give it in extraEnv, from a Secret." $name) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "PORT" "METRICS_PORT" "ADMIN_PORT" -}}
{{- if eq (include "gatehouse.value" (dict "root" $ "name" $name)) "0" -}}
{{- $reasons = append $reasons (printf "config.%s must not be 0: a Service needs to know the port." $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- $reasons = append $reasons "httpRoute.parentRefs is empty: no gateway would serve the route, and this chart makes none." -}}
{{- end -}}
{{- with .Values.administration -}}
{{- if and (or .httpRoute.enabled .ingress.enabled) (not .enabled) -}}
{{- $reasons = append $reasons "administration.httpRoute and administration.ingress need administration.enabled: there would be no Service behind them." -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) -}}
{{- $reasons = append $reasons "administration.httpRoute.parentRefs is empty: no gateway would serve the route, and this chart makes none." -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.hosts) -}}
{{- $reasons = append $reasons "administration.ingress.hosts is empty." -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- $reasons = append $reasons "ingress.hosts is empty." -}}
{{- end -}}
{{- $drain := include "gatehouse.value" (dict "root" . "name" "SERVICE_SHUTDOWN_GRACE_SECONDS") | int -}}
{{- $least := add .Values.preStopSleepSeconds $drain | int -}}
{{- if lt (include "gatehouse.graceSeconds" . | int) $least -}}
{{- $reasons = append $reasons (printf "terminationGracePeriodSeconds must be at least %d (preStopSleepSeconds + SERVICE_SHUTDOWN_GRACE_SECONDS): pods would be killed with requests under way." $least) -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled .Values.networkPolicy.egress.enabled (not .Values.networkPolicy.egress.rules) -}}
{{- $reasons = append $reasons "networkPolicy.egress.rules is empty: nothing but DNS would be reached. Name the database, Redis and the identity providers, or leave networkPolicy.egress.enabled off." -}}
{{- end -}}
{{- if .Values.administration.enabled -}}
{{- if not (or .Values.administration.tls.existingSecret (get .Values.config "ADMIN_TLS_CERT_PATH") .Values.networkPolicy.enabled) -}}
{{- $reasons = append $reasons "administration.tls.existingSecret is missing and networkPolicy.enabled is off: every pod would reach the administration API, unencrypted." -}}
{{- end -}}
{{- else if get .Values.config "ADMIN_PORT" -}}
{{- $reasons = append $reasons "config.ADMIN_PORT needs administration.enabled: no port of the pod or Service would lead to it." -}}
{{- end -}}
{{- $isTokenGiven := include "gatehouse.isGiven" (dict "root" . "name" "METRICS_TOKEN") -}}
{{- if and .Values.metrics.serviceMonitor.enabled $isTokenGiven (not (include "gatehouse.metricsAuthorization" .)) -}}
{{- $reasons = append $reasons "metrics.serviceMonitor.authorization is missing: METRICS_TOKEN comes from a file or a plain value, which Prometheus cannot read. Name a Secret that has the token: {credentials: {name, key}}." -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- $reasons = append $reasons "metrics.serviceMonitor.enabled needs metrics.enabled: there would be nothing to scrape." -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}
