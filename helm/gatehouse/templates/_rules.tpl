{{- /* Names of the values that set a variable, for people. */ -}}
{{- define "gatehouse.valueNames" -}}
{{- $mtls := "SERVICE_FEATURE_AUTH_MTLS__" -}}
{{- $names := dict
  "SERVICE_TLS_CERT_PATH" "tls.existingSecret"
  "SERVICE_TLS_KEY_PATH" "tls.existingSecret"
  "METRICS_PORT" "metrics.enabled"
  "ADMIN_PORT" "administration.enabled"
  "ADMIN_TOKENS_FILE" "administration.tokens.existingSecret"
  "ADMIN_TLS_CERT_PATH" "administration.tls.existingSecret"
  "ADMIN_TLS_KEY_PATH" "administration.tls.existingSecret"
  (print $mtls "ENABLED") "mtls.enabled"
  (print $mtls "MODE") "mtls.mode"
  (print $mtls "FORWARDED_PRESET") "mtls.forwarded.proxy"
  (print $mtls "TRUSTED_PROXIES") "mtls.forwarded.trustedProxies"
  (print $mtls "TLS_PORT") "mtls.direct.port"
  (print $mtls "TLS_CERT_PATH") "mtls.direct.certificate.secretName"
  (print $mtls "TLS_KEY_PATH") "mtls.direct.certificate.secretName"
  (print $mtls "CA_PATH") "mtls.clientCa"
-}}
{{- range $secret := (include "gatehouse.variables" . | fromJson).secrets -}}
{{- $_ := set $names $secret (print "secrets." $secret) -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Contradictions, by the rows of the server (files/rules.json, made by npm run generate). */ -}}
{{- define "gatehouse.ruleRefusals" -}}
{{- $reasons := list -}}
{{- $valueNames := include "gatehouse.valueNames" . | fromJson -}}
{{- $facts := include "gatehouse.ruleFacts" . | fromJson -}}
{{- range $rule := .Files.Get "files/rules.json" | fromJsonArray -}}
{{- if include "gatehouse.fires" (dict "rule" $rule "facts" $facts) -}}
{{- $sources := list -}}
{{- range $name := $rule.names -}}
{{- $sources = append $sources (get $valueNames $name | default (print "config." $name)) -}}
{{- end -}}
{{- /* A longer list helps nobody. */ -}}
{{- if gt (len $sources) 4 -}}{{- $sources = list (get $valueNames $rule.variable | default (print "config." $rule.variable)) -}}{{- end -}}
{{- $reasons = append $reasons (printf "%s (From %s.)" $rule.message (join ", " (uniq $sources))) -}}
{{- end -}}
{{- end -}}
{{- toJson $reasons -}}
{{- end -}}

{{- /*
What the rows are about, as JSON: the text of each variable, those whose text the chart cannot see, and the
providers. A secret that is given in any way has the text "given".
*/ -}}
{{- define "gatehouse.ruleFacts" -}}
{{- $root := . -}}
{{- $facts := include "gatehouse.variables" . | fromJson -}}
{{- $config := include "gatehouse.config" . | fromJson -}}
{{- $preset := get $facts.presets (get $config "SERVICE_PRESET" | default "") | default dict -}}
{{- $names := list -}}
{{- range .Files.Get "files/rules.json" | fromJsonArray -}}{{- $names = concat $names .names -}}{{- end -}}
{{- $texts := dict -}}
{{- $unknown := list -}}
{{- range $name := uniq $names -}}
{{- $text := get $config $name | default "" -}}
{{- $isSeen := ne $text "" -}}
{{- range $root.Values.extraEnv -}}
{{- if eq .name $name -}}
{{- if hasKey . "value" -}}{{- $text = .value -}}{{- $isSeen = true -}}{{- else -}}{{- $unknown = append $unknown $name -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if has $name $facts.secrets -}}
{{- if include "gatehouse.isGiven" (dict "root" $root "name" $name) -}}{{- $text = "given" -}}{{- $isSeen = true -}}{{- $unknown = without $unknown $name -}}{{- end -}}
{{- end -}}
{{- if and $root.Values.extraEnvFrom (not $isSeen) -}}{{- $unknown = append $unknown $name -}}{{- end -}}
{{- $_ := set $texts $name ($text | default (get $preset $name) | default (get $facts.defaults $name) | trim) -}}
{{- end -}}
{{- $providers := include "gatehouse.configuredProviders" . | fromJsonArray -}}
{{- if .Values.extraEnvFrom -}}{{- /* They may be configured there. */ -}}
{{- $providers = concat $providers (include "gatehouse.items" (dict "root" . "name" "SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS") | fromJsonArray) -}}
{{- end -}}
{{- dict "texts" $texts "unknown" $unknown "providers" $providers | toJson -}}
{{- end -}}

{{- /* "true" when a row applies. One about a variable that the chart cannot see never does. Takes rule and facts. */ -}}
{{- define "gatehouse.fires" -}}
{{- $isKnown := true -}}
{{- range $name := .rule.names -}}{{- if has $name $.facts.unknown -}}{{- $isKnown = false -}}{{- end -}}{{- end -}}
{{- if $isKnown -}}{{- include "gatehouse.holds" (dict "condition" .rule.when "facts" .facts) -}}{{- end -}}
{{- end -}}

{{- /* "true" or nothing, as `holds` of src/core/policy/findings/condition.ts. Takes condition and facts. */ -}}
{{- define "gatehouse.holds" -}}
{{- $facts := .facts -}}
{{- $texts := $facts.texts -}}
{{- with .condition -}}
{{- if hasKey . "set" -}}
{{- if get $texts .set -}}true{{- end -}}
{{- else if hasKey . "on" -}}
{{- if has (get $texts .on | lower) (list "true" "1" "yes" "on") -}}true{{- end -}}
{{- else if hasKey . "is" -}}
{{- if eq (get $texts (index .is 0) | lower) (index .is 1) -}}true{{- end -}}
{{- else if hasKey . "lists" -}}
{{- if has (index .lists 1) (include "gatehouse.listed" (get $texts (index .lists 0)) | fromJsonArray) -}}true{{- end -}}
{{- else if hasKey . "samePort" -}}
{{- $one := get $texts (index .samePort 0) -}}
{{- $other := get $texts (index .samePort 1) -}}
{{- if and $one $other (ne (atoi $one) 0) (eq (atoi $one) (atoi $other)) -}}true{{- end -}}
{{- else if hasKey . "usable" -}}
{{- $listed := include "gatehouse.listed" (get $texts .usable) | fromJsonArray -}}
{{- $isUsable := false -}}
{{- range $facts.providers -}}{{- if has . $listed -}}{{- $isUsable = true -}}{{- end -}}{{- end -}}
{{- if $isUsable -}}true{{- end -}}
{{- else if hasKey . "not" -}}
{{- if not (include "gatehouse.holds" (dict "condition" .not "facts" $facts)) -}}true{{- end -}}
{{- else if hasKey . "all" -}}
{{- $isAll := true -}}
{{- range .all -}}{{- if not (include "gatehouse.holds" (dict "condition" . "facts" $facts)) -}}{{- $isAll = false -}}{{- end -}}{{- end -}}
{{- if $isAll -}}true{{- end -}}
{{- else if hasKey . "any" -}}
{{- $isAny := false -}}
{{- range .any -}}{{- if include "gatehouse.holds" (dict "condition" . "facts" $facts) -}}{{- $isAny = true -}}{{- end -}}{{- end -}}
{{- if $isAny -}}true{{- end -}}
{{- else -}}
{{- printf "files/rules.json has a condition that this chart does not know: %s" (toJson .) | fail -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The items of a text with commas, as JSON. */ -}}
{{- define "gatehouse.listed" -}}
{{- $items := list -}}
{{- range splitList "," . -}}
{{- with trim . | lower | trimAll "\"" -}}{{- $items = append $items . -}}{{- end -}}
{{- end -}}
{{- toJson (uniq $items) -}}
{{- end -}}
