{{- /* The effective policy in the sentences of gatehouse config check, one a line. Takes the root. */ -}}
{{- define "gatehouse.policy" -}}
{{- $facts := include "gatehouse.policyFacts" . | fromJson -}}
{{- with $facts -}}
{{- if not .keyed }}
A new device key is refused: login with a device key is off.
{{- else if eq .storage "plaintext_only" }}
A new device key is refused: encrypted content is not stored.
{{- else if .anonymous }}
Anyone who can reach this server can create an account.
{{- else if .invitations }}
A new device key needs an invitation.
{{- else }}
A new device key is refused: anonymous sign-up is off.
{{- end }}
{{- if .keyedSignup }}
An account with device keys can be created through {{ include "gatehouse.anyOf" .keyedSignup }}.
{{- end }}
{{- if and .keylessProviders .keylessProvision }}
The first login through {{ include "gatehouse.anyOf" .keylessProviders }} creates an account without device keys.
{{- end }}
{{- if and .mtls .mtlsProvision }}
The first login with a client certificate creates an account without device keys.
{{- end }}
{{- if .keyed }}
An existing account logs in with its device key{{ if .serverChallenge }}, signing a challenge of this server{{ end }}.
{{- else }}
Login with a device key is off.
{{- end }}
{{- if .keylessProviders }}
Accounts without device keys log in through {{ include "gatehouse.anyOf" .keylessProviders }}.
{{- end }}
{{- if .mtls }}
Accounts without device keys log in with a client certificate.
{{- end }}
{{- if .required }}
To use the server, an account must be connected to {{ include "gatehouse.allOf" .required }} and be eligible there.
{{- else }}
No identity provider is required to use the server.
{{- end }}
{{- if .keyless }}
An account without device keys is served only while one of its identities is eligible.
{{- end }}
{{- if .offboarding }}
Eligibility is checked again every {{ include "gatehouse.duration" .interval }}.
If a provider issues no refresh token, a sign-in lasts one interval; then the person must sign in again.
{{ if .strict }}While a provider is down, its identities are refused once their last good check is that old.{{ else }}While a provider is down, its last answer counts.{{ end }}
{{- else }}
Eligibility is not checked again after an identity is linked.
{{- end }}
Ended access is refused on every replica within {{ include "gatehouse.duration" .revocation }}, whatever fails; with Redis usually at once.
{{- if eq .storage "required_e2ee" }}
Only end-to-end encrypted content is stored; the server cannot read it.
{{- else }}
{{- if eq .storage "plaintext_only" }}
Encrypted content is refused; the server can read everything that is stored.
{{- else }}
Content may be end-to-end encrypted or readable by the server{{ if .keyless }}, and accounts without device keys are allowed{{ end }}.{{ if .optOut }} Users can switch between the two.{{ end }}
{{- end }}
{{- if .sealed }}
Content that is not end-to-end encrypted is sealed in the database; the server can open it.
{{- else }}
Content that is not end-to-end encrypted is stored readable in the database, in whole or in part.
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "gatehouse.policyFacts" -}}
{{- $root := . -}}
{{- $keyless := "SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_" -}}
{{- $mtls := "SERVICE_FEATURE_AUTH_MTLS__" -}}
{{- $encryption := "SERVICE_FEATURE_ENCRYPTION__" -}}
{{- $storage := include "gatehouse.value" (dict "root" . "name" (print $encryption "STORAGE_POLICY")) | lower -}}
{{- $known := include "gatehouse.configuredProviders" . | fromJsonArray -}}
{{- $keyed := include "gatehouse.flag" (dict "root" . "name" "AUTH_KEY_CHALLENGE_ENABLED") -}}
{{- $hasKeyless := and (include "gatehouse.flag" (dict "root" . "name" "SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED")) (ne $storage "required_e2ee") -}}
{{- $signup := list -}}
{{- range include "gatehouse.items" (dict "root" . "name" "AUTH_SIGNUP_PROVIDERS") | fromJsonArray -}}
{{- if and (has . $known) $keyed (ne $storage "plaintext_only") -}}{{- $signup = append $signup . -}}{{- end -}}
{{- end -}}
{{- $oauth := list -}}
{{- if and $hasKeyless (include "gatehouse.flag" (dict "root" . "name" (print $keyless "ENABLED"))) -}}
{{- range include "gatehouse.items" (dict "root" . "name" (print $keyless "PROVIDERS")) | fromJsonArray -}}
{{- if has . $known -}}{{- $oauth = append $oauth . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $isReachable := or (eq (include "gatehouse.value" (dict "root" . "name" (print $mtls "MODE"))) "direct") (and (include "gatehouse.flag" (dict "root" . "name" (print $mtls "TRUST_FORWARDED_HEADERS"))) (include "gatehouse.value" (dict "root" . "name" (print $mtls "TRUSTED_PROXIES")))) -}}
{{- $isSealed := true -}}
{{- range list "PLAIN_ACCOUNT_SETTINGS_AT_REST" "PLAIN_ACCOUNT_CREDENTIALS_AT_REST" -}}
{{- if ne (include "gatehouse.value" (dict "root" $root "name" (print $encryption .))) "server_sealed" -}}{{- $isSealed = false -}}{{- end -}}
{{- end -}}
{{- dict
  "anonymous" (include "gatehouse.flag" (dict "root" . "name" "AUTH_ANONYMOUS_SIGNUP_ENABLED"))
  "invitations" (include "gatehouse.flag" (dict "root" . "name" "AUTH_SIGNUP_INVITATIONS_ENABLED"))
  "keyed" $keyed
  "keyless" $hasKeyless
  "keyedSignup" $signup
  "keylessProviders" $oauth
  "keylessProvision" (include "gatehouse.flag" (dict "root" . "name" (print $keyless "AUTO_PROVISION")))
  "mtls" (and $hasKeyless (include "gatehouse.flag" (dict "root" . "name" (print $mtls "ENABLED"))) $isReachable)
  "mtlsProvision" (include "gatehouse.flag" (dict "root" . "name" (print $mtls "AUTO_PROVISION")))
  "serverChallenge" (include "gatehouse.flag" (dict "root" . "name" "AUTH_REQUIRE_SERVER_CHALLENGE"))
  "required" (include "gatehouse.items" (dict "root" . "name" "AUTH_REQUIRED_LOGIN_PROVIDERS") | fromJsonArray)
  "offboarding" (include "gatehouse.isOffboarding" .)
  "interval" (include "gatehouse.value" (dict "root" . "name" "AUTH_OFFBOARDING_INTERVAL_SECONDS") | int | max 60 | min 86400)
  "revocation" (include "gatehouse.value" (dict "root" . "name" "AUTH_ACCESS_CACHE_SECONDS") | int | add 2)
  "strict" (include "gatehouse.flag" (dict "root" . "name" "AUTH_OFFBOARDING_STRICT"))
  "storage" $storage
  "optOut" (include "gatehouse.flag" (dict "root" . "name" (print $encryption "ALLOW_ACCOUNT_OPTOUT")))
  "sealed" $isSealed
  | toJson -}}
{{- end -}}

{{- /* The items of a list of provider ids, as JSON. Takes root and name. */ -}}
{{- define "gatehouse.items" -}}
{{- include "gatehouse.listed" (include "gatehouse.value" .) -}}
{{- end -}}

{{- /*
The ids of the providers there are, as JSON. A file that is not the chart's own cannot be looked into:
then those that the lists name are taken to be in it.
*/ -}}
{{- define "gatehouse.configuredProviders" -}}
{{- $root := . -}}
{{- $ids := list -}}
{{- range .Values.providers.list -}}{{- $ids = append $ids .id -}}{{- end -}}
{{- if include "gatehouse.hasForeignProviders" . -}}
{{- range list "AUTH_SIGNUP_PROVIDERS" "SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS" -}}
{{- range include "gatehouse.items" (dict "root" $root "name" .) | fromJsonArray -}}
{{- if ne . "github" -}}{{- $ids = append $ids . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (include "gatehouse.value" (dict "root" . "name" "GITHUB_CLIENT_ID")) (include "gatehouse.isGiven" (dict "root" . "name" "GITHUB_CLIENT_SECRET")) -}}
{{- $ids = append $ids "github" -}}
{{- end -}}
{{- uniq $ids | toJson -}}
{{- end -}}

{{- define "gatehouse.hasForeignProviders" -}}
{{- $isNamed := and (not .Values.providers.list) (include "gatehouse.value" (dict "root" . "name" "AUTH_PROVIDERS_CONFIG_PATH")) -}}
{{- if or $isNamed (include "gatehouse.isGiven" (dict "root" . "name" "AUTH_PROVIDERS_CONFIG_JSON")) -}}true{{- end -}}
{{- end -}}

{{- /* Said by the variable, else whether membership narrows a provider (as far as the chart can see). */ -}}
{{- define "gatehouse.isOffboarding" -}}
{{- if include "gatehouse.value" (dict "root" . "name" "AUTH_OFFBOARDING_ENABLED") -}}
{{- include "gatehouse.flag" (dict "root" . "name" "AUTH_OFFBOARDING_ENABLED") -}}
{{- else -}}
{{- $isNarrowed := or (include "gatehouse.value" (dict "root" . "name" "AUTH_GITHUB_ALLOWED_ORGS")) (include "gatehouse.flag" (dict "root" . "name" "SERVICE_FEATURE_AUTH_MTLS__ENABLED")) -}}
{{- range .Values.providers.list -}}
{{- range $rule := values (.allow | default dict) -}}{{- if $rule -}}{{- $isNarrowed = "true" -}}{{- end -}}{{- end -}}
{{- end -}}
{{- if $isNarrowed -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.anyOf" -}}{{- include "gatehouse.joined" (dict "items" . "word" "or") -}}{{- end -}}
{{- define "gatehouse.allOf" -}}{{- include "gatehouse.joined" (dict "items" . "word" "and") -}}{{- end -}}
{{- define "gatehouse.joined" -}}
{{- if eq (len .items) 1 -}}{{- first .items -}}{{- else -}}{{- join ", " (initial .items) }} {{ .word }} {{ last .items -}}{{- end -}}
{{- end -}}

{{- define "gatehouse.duration" -}}
{{- $seconds := int . -}}
{{- $parts := list $seconds "second" -}}
{{- if eq (mod $seconds 3600) 0 -}}{{- $parts = list (div $seconds 3600) "hour" -}}
{{- else if eq (mod $seconds 60) 0 -}}{{- $parts = list (div $seconds 60) "minute" -}}{{- end -}}
{{- if eq (int (first $parts)) 1 -}}{{- last $parts -}}{{- else -}}{{- first $parts }} {{ last $parts }}s{{- end -}}
{{- end -}}
