{{- /* Names, defaults and presets of the variables, made from the server's own table. */ -}}
{{- define "gatehouse.variables" -}}
{{- .Files.Get "files/variables.json" -}}
{{- end -}}

{{- /* A value as the text of a variable. YAML's numbers are floats by now: 2592000 must not become 2.592e+06. */ -}}
{{- define "gatehouse.text" -}}
{{- if kindIs "slice" . -}}
{{- $items := list -}}
{{- range . -}}
{{- $items = append $items (ternary (printf "%q" .) . (contains "," .)) -}}
{{- end -}}
{{- join "," $items -}}
{{- else if kindIs "float64" . -}}
{{- printf "%.0f" . -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{- /* With --reuse-values the values are those of the older chart, which has no configCheck. */ -}}
{{- define "gatehouse.checksConfig" -}}
{{- if (.Values.configCheck | default (dict "enabled" true)).enabled -}}true{{- end -}}
{{- end -}}

{{- define "gatehouse.hasCaBundle" -}}
{{- with .Values.caBundle -}}{{- if or .pem .existingConfigMap .existingSecret -}}true{{- end -}}{{- end -}}
{{- end -}}

{{- /* The volume of the CA bundle. Takes root, and the name of the chart's own ConfigMap. */ -}}
{{- define "gatehouse.caBundleVolume" -}}
{{- with .root.Values.caBundle -}}
- name: ca-bundle
  {{- if .existingSecret }}
  secret:
    secretName: {{ include "gatehouse.yaml" (dict "root" $.root "value" .existingSecret) }}
    items:
      - key: {{ .key | toYaml }}
        path: {{ .key | toYaml }}
    defaultMode: 0440
  {{- else }}
  configMap:
    name: {{ include "gatehouse.yaml" (dict "root" $.root "value" (default $.name .existingConfigMap)) }}
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "gatehouse.caBundleMount" -}}
- name: ca-bundle
  mountPath: /etc/gatehouse/ca-bundle
  readOnly: true
{{- end -}}

{{- /* The variables that follow from other values, as JSON. */ -}}
{{- define "gatehouse.derivedConfig" -}}
{{- $config := dict -}}
{{- if .Values.providers.list -}}
{{- $_ := set $config "AUTH_PROVIDERS_CONFIG_PATH" "/etc/gatehouse/providers/providers.json" -}}
{{- else if .Values.providers.existingSecret -}}
{{- $_ := set $config "AUTH_PROVIDERS_CONFIG_PATH" (printf "/etc/gatehouse/providers/%s" .Values.providers.existingSecretKey) -}}
{{- end -}}
{{- if .Values.resourceServers.list -}}
{{- $_ := set $config "AUTH_RESOURCE_SERVERS_CONFIG_PATH" "/etc/gatehouse/resource-servers/resource-servers.json" -}}
{{- if .Values.resourceServers.programClients -}}
{{- $_ := set $config "AUTH_PROGRAM_CLIENTS_CONFIG_PATH" "/etc/gatehouse/resource-servers/program-clients.json" -}}
{{- end -}}
{{- end -}}
{{- if include "gatehouse.hasCaBundle" . -}}
{{- $_ := set $config "SERVICE_CA_BUNDLE" (printf "/etc/gatehouse/ca-bundle/%s" .Values.caBundle.key) -}}
{{- end -}}
{{- if .Values.tls.existingSecret -}}
{{- $_ := set $config "SERVICE_TLS_CERT_PATH" "/etc/gatehouse/server-tls/tls.crt" -}}
{{- $_ := set $config "SERVICE_TLS_KEY_PATH" "/etc/gatehouse/server-tls/tls.key" -}}
{{- end -}}
{{- with .Values.administration -}}
{{- if and .enabled .tokens.existingSecret -}}
{{- $_ := set $config "ADMIN_TOKENS_FILE" (printf "/etc/gatehouse/admin/%s" .tokens.key) -}}
{{- end -}}
{{- if and .enabled .tls.existingSecret -}}
{{- $_ := set $config "ADMIN_TLS_CERT_PATH" "/etc/gatehouse/admin-tls/tls.crt" -}}
{{- $_ := set $config "ADMIN_TLS_KEY_PATH" "/etc/gatehouse/admin-tls/tls.key" -}}
{{- end -}}
{{- end -}}
{{- with .Values.mtls -}}
{{- $prefix := "SERVICE_FEATURE_AUTH_MTLS__" -}}
{{- if .enabled -}}
{{- $_ := set $config (print $prefix "ENABLED") "true" -}}
{{- $_ := set $config (print $prefix "MODE") .mode -}}
{{- if eq .mode "forwarded" -}}
{{- $presets := dict "envoy-gateway" "envoy" "istio" "envoy" "aws-alb" "aws-alb-verify" -}}
{{- $_ := set $config (print $prefix "FORWARDED_PRESET") (get $presets .forwarded.proxy | default .forwarded.proxy) -}}
{{- $_ := set $config (print $prefix "TRUST_FORWARDED_HEADERS") "true" -}}
{{- $_ := set $config (print $prefix "TRUSTED_PROXIES") (join "," .forwarded.trustedProxies) -}}
{{- else -}}
{{- $_ := set $config (print $prefix "TLS_PORT") (include "gatehouse.text" .direct.port) -}}
{{- $_ := set $config (print $prefix "TLS_CERT_PATH") "/etc/gatehouse/tls/tls.crt" -}}
{{- $_ := set $config (print $prefix "TLS_KEY_PATH") "/etc/gatehouse/tls/tls.key" -}}
{{- end -}}
{{- if or .clientCa.existingConfigMap .clientCa.existingSecret -}}
{{- $_ := set $config (print $prefix "CA_PATH") (printf "/etc/gatehouse/client-ca/%s" .clientCa.key) -}}
{{- end -}}
{{- if .crl.existingConfigMap -}}
{{- $_ := set $config (print $prefix "CRL_PATH") (printf "/etc/gatehouse/crl/%s" .crl.key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}

{{- /* What goes into the ConfigMap, as JSON: every value is a text. */ -}}
{{- define "gatehouse.config" -}}
{{- $config := dict -}}
{{- range $name, $value := .Values.config -}}
{{- if not (kindIs "invalid" $value) -}}
{{- $_ := set $config $name (include "gatehouse.tpl" (dict "root" $ "text" (include "gatehouse.text" $value))) -}}
{{- end -}}
{{- end -}}
{{- /* A Service may have both families, and a pod of an IPv6 network has no other address. */ -}}
{{- $_ := set $config "HOST" (get $config "HOST" | default "::") -}}
{{- if and .Values.metrics.enabled (not (get $config "METRICS_PORT")) -}}
{{- $_ := set $config "METRICS_PORT" "9090" -}}
{{- end -}}
{{- if .Values.administration.enabled -}}
{{- $_ := set $config "ADMIN_PORT" (get $config "ADMIN_PORT" | default "3100") -}}
{{- $_ := set $config "ADMIN_HOST" (get $config "ADMIN_HOST" | default (get $config "HOST")) -}}
{{- end -}}
{{- $hasMetricsPort := get $config "METRICS_PORT" -}}
{{- range .Values.extraEnv -}}
{{- if eq .name "METRICS_PORT" -}}{{- $hasMetricsPort = true -}}{{- end -}}
{{- end -}}
{{- /* Without a token the server's default is loopback, where no scrape of a pod arrives: the NetworkPolicy limits it. */ -}}
{{- if and $hasMetricsPort (not (get $config "METRICS_HOST")) -}}
{{- $_ := set $config "METRICS_HOST" (get $config "HOST") -}}
{{- end -}}
{{- if and (not (include "gatehouse.isGiven" (dict "root" . "name" "DATABASE_URL"))) (not (get $config "SERVICE_DATA_DIR")) -}}
{{- $_ := set $config "SERVICE_DATA_DIR" "/var/lib/gatehouse" -}}
{{- end -}}
{{- $config = merge (include "gatehouse.derivedConfig" . | fromJson) $config -}}
{{- $_ := set $config "SERVICE_LOGIN_ORIGINS" (include "gatehouse.loginOrigins" (dict "root" . "config" $config)) -}}
{{- toJson $config -}}
{{- end -}}

{{- /*
Clients in the cluster, helm test among them, use the Service's own name. Where no other origin is named,
kubectl port-forward is how the server is reached from outside. Takes root and config.
*/ -}}
{{- define "gatehouse.loginOrigins" -}}
{{- $origins := list -}}
{{- with get .config "SERVICE_LOGIN_ORIGINS" -}}{{- $origins = append $origins . -}}{{- end -}}
{{- if not (or $origins (get .config "SERVICE_PUBLIC_URL")) -}}
{{- $scheme := include "gatehouse.schemeOf" .config -}}
{{- $origins = list (print $scheme "://127.0.0.1:3000") (print $scheme "://localhost:3000") -}}
{{- end -}}
{{- join "," (append $origins (include "gatehouse.clusterUrl" .)) -}}
{{- end -}}

{{- /* Takes root and config. */ -}}
{{- define "gatehouse.clusterUrl" -}}
{{ include "gatehouse.schemeOf" .config }}://{{ include "gatehouse.fullname" .root }}.{{ include "gatehouse.namespace" .root }}.svc:{{ .root.Values.service.port }}
{{- end -}}

{{- /* http or https: what the main port serves. Takes the variables. */ -}}
{{- define "gatehouse.schemeOf" -}}
{{- ternary "https" "http" (ne (get . "SERVICE_TLS_CERT_PATH" | default "") "") -}}
{{- end -}}

{{- define "gatehouse.scheme" -}}
{{- include "gatehouse.schemeOf" (include "gatehouse.config" . | fromJson) -}}
{{- end -}}

{{- define "gatehouse.isTls" -}}
{{- if eq (include "gatehouse.scheme" .) "https" -}}true{{- end -}}
{{- end -}}

{{- /* A GET of the main port. Takes root and path. */ -}}
{{- define "gatehouse.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ include "gatehouse.scheme" .root }}
  {{- if include "gatehouse.isTls" .root }}
  scheme: HTTPS
  {{- end }}
{{- end -}}

{{- /* The text a variable has in the end: extraEnv, config, preset, default. Takes root and name. */ -}}
{{- define "gatehouse.value" -}}
{{- $config := include "gatehouse.config" .root | fromJson -}}
{{- $name := .name -}}
{{- $text := get $config $name -}}
{{- range .root.Values.extraEnv -}}
{{- if and (eq .name $name) (hasKey . "value") -}}
{{- $text = .value -}}
{{- end -}}
{{- end -}}
{{- if not $text -}}
{{- /* In a file of variables an empty value stands for not set, as it does for the server. */ -}}
{{- $facts := include "gatehouse.variables" .root | fromJson -}}
{{- $preset := get $facts.presets (get $config "SERVICE_PRESET") | default dict -}}
{{- $text = get $preset $name | default (get $facts.defaults $name) -}}
{{- end -}}
{{- trim $text -}}
{{- end -}}

{{- /* "true" or nothing. Takes root and name. */ -}}
{{- define "gatehouse.flag" -}}
{{- if has (include "gatehouse.value" . | lower) (list "true" "1" "yes" "on") -}}true{{- end -}}
{{- end -}}

{{- /* "true" when a secret variable is given in any of the ways the chart can see. Takes root and name. */ -}}
{{- define "gatehouse.isGiven" -}}
{{- $values := .root.Values -}}
{{- $names := list .name (print .name "_FILE") -}}
{{- $given := or (hasKey $values.secrets .name) (get $values.config (print .name "_FILE")) -}}
{{- range $values.extraEnv -}}
{{- if has .name $names -}}{{- $given = true -}}{{- end -}}
{{- end -}}
{{- if $given -}}true{{- end -}}
{{- end -}}

{{- define "gatehouse.hasDatabase" -}}
{{- include "gatehouse.isGiven" (dict "root" . "name" "DATABASE_URL") -}}
{{- end -}}

{{- /* The most replicas there can be. */ -}}
{{- define "gatehouse.maxReplicas" -}}
{{- ternary .Values.autoscaling.maxReplicas .Values.replicaCount .Values.autoscaling.enabled -}}
{{- end -}}

{{- define "gatehouse.port" -}}
{{- include "gatehouse.value" (dict "root" . "name" "PORT") -}}
{{- end -}}

{{- define "gatehouse.metricsPort" -}}
{{- include "gatehouse.value" (dict "root" . "name" "METRICS_PORT") -}}
{{- end -}}

{{- define "gatehouse.adminPort" -}}
{{- if .Values.administration.enabled -}}
{{- include "gatehouse.value" (dict "root" . "name" "ADMIN_PORT") -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.graceSeconds" -}}
{{- $drain := include "gatehouse.value" (dict "root" . "name" "SERVICE_SHUTDOWN_GRACE_SECONDS") | int -}}
{{- $least := add .Values.preStopSleepSeconds $drain -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- add $least 10 -}}
{{- else -}}
{{- .Values.terminationGracePeriodSeconds | int -}}
{{- end -}}
{{- end -}}

{{- /* A list of the secrets that the chart itself keeps, as JSON: {name: value}. */ -}}
{{- define "gatehouse.ownSecrets" -}}
{{- $own := dict -}}
{{- range $name, $source := .Values.secrets -}}
{{- with $source.value -}}{{- $_ := set $own $name . -}}{{- end -}}
{{- end -}}
{{- range $file, $secret := include "gatehouse.entrySecrets" . | fromJson -}}
{{- with $secret.source.value -}}{{- $_ := set $own $file . -}}{{- end -}}
{{- end -}}
{{- toJson $own -}}
{{- end -}}

{{- /* Secrets of providers and backends, as JSON: {file: {source, key}}, key being the default one in a Secret of yours. */ -}}
{{- define "gatehouse.entrySecrets" -}}
{{- $files := dict -}}
{{- range $id, $source := .Values.providers.clientSecrets -}}
{{- $_ := set $files (print "provider." $id) (dict "source" $source "key" $id) -}}
{{- end -}}
{{- range $id, $sources := .Values.providers.signalSecrets -}}
{{- range $name, $source := $sources -}}
{{- $_ := set $files (printf "provider.%s.%s" $id $name) (dict "source" $source "key" $name) -}}
{{- end -}}
{{- end -}}
{{- range $id, $source := .Values.resourceServers.clientSecrets -}}
{{- $_ := set $files (print "resource-server." $id) (dict "source" $source "key" $id) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{- define "gatehouse.hasSecrets" -}}
{{- if or .Values.secrets (include "gatehouse.entrySecrets" . | fromJson) -}}true{{- end -}}
{{- end -}}

{{- /* The parts of a projected volume with secrets as files. Takes root and names (of variables). */ -}}
{{- define "gatehouse.secretSources" -}}
{{- $root := .root -}}
{{- range $name := .names -}}
{{- with get $root.Values.secrets $name }}
- secret:
    name: {{ include "gatehouse.yaml" (dict "root" $root "value" (default (include "gatehouse.fullname" $root) .existingSecret)) }}
    items:
      - key: {{ default $name .key | toYaml }}
        path: {{ $name }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* NAME_FILE for each secret variable that is mounted. Takes root and names. */ -}}
{{- define "gatehouse.secretEnv" -}}
{{- $root := .root -}}
{{- range $name := .names -}}
{{- if hasKey $root.Values.secrets $name }}
- name: {{ $name }}_FILE
  value: /run/secrets/gatehouse/{{ $name }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Secrets of the field signals of an entry, as YAML: the name of the value, the section, the field. */ -}}
{{- define "gatehouse.signalSecretNames" -}}
- { name: scimToken, section: [scim], field: token, isNeeded: true }
- { name: pushToken, section: [sharedSignals], field: pushToken }
- { name: managementToken, section: [sharedSignals], field: managementToken }
- { name: managementClientSecret, section: [sharedSignals, managementClient], field: clientSecret, isNeeded: true }
{{- end -}}

{{- /* The section of an entry that has a secret of signals, as {found} in JSON; null = none. Takes entry and secret. */ -}}
{{- define "gatehouse.signalSection" -}}
{{- $section := .entry.signals -}}
{{- range .secret.section -}}
{{- $section = ternary (get ($section | default dict) .) nil (hasKey ($section | default dict) .) -}}
{{- end -}}
{{- dict "found" $section | toJson -}}
{{- end -}}

{{- /* The providers file: each entry without a secret of its own gets the path of the mounted one. */ -}}
{{- define "gatehouse.providersFile" -}}
{{- $entries := list -}}
{{- range .Values.providers.list -}}
{{- $entry := deepCopy . -}}
{{- if not (or (hasKey . "clientSecretFile") (hasKey . "clientKeyFile") (hasKey . "clientAssertionFile")) -}}
{{- $_ := set $entry "clientSecretFile" (printf "/run/secrets/gatehouse/provider.%s" .id) -}}
{{- end -}}
{{- $given := get $.Values.providers.signalSecrets .id | default dict -}}
{{- range include "gatehouse.signalSecretNames" $ | fromYamlArray -}}
{{- if hasKey $given .name -}}
{{- $section := $entry.signals -}}
{{- range .section -}}{{- $section = get $section . -}}{{- end -}}
{{- $_ := set $section (print .field "File") (printf "/run/secrets/gatehouse/provider.%s.%s" $entry.id .name) -}}
{{- end -}}
{{- end -}}
{{- $entries = append $entries $entry -}}
{{- end -}}
{{- toPrettyJson $entries -}}
{{- end -}}

{{- /* The resource servers file: each entry without a client gets the path of its mounted secret. */ -}}
{{- define "gatehouse.resourceServersFile" -}}
{{- $entries := list -}}
{{- range .Values.resourceServers.list -}}
{{- $entry := deepCopy . -}}
{{- if not (hasKey . "client") -}}
{{- $_ := set $entry "client" (dict "secretFile" (printf "/run/secrets/gatehouse/resource-server.%s" .id)) -}}
{{- end -}}
{{- $entries = append $entries $entry -}}
{{- end -}}
{{- toPrettyJson $entries -}}
{{- end -}}
