{{- /* "true" when a stranger can sign up with a device key and be served at once. */ -}}
{{- define "gatehouse.isOpen" -}}
{{- $root := . -}}
{{- $signup := include "gatehouse.flag" (dict "root" $root "name" "AUTH_ANONYMOUS_SIGNUP_ENABLED") -}}
{{- $keyed := include "gatehouse.flag" (dict "root" $root "name" "AUTH_KEY_CHALLENGE_ENABLED") -}}
{{- $isPlain := eq (include "gatehouse.value" (dict "root" $root "name" "SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY")) "plaintext_only" -}}
{{- if and $signup $keyed (not $isPlain) -}}true{{- end -}}
{{- end -}}

{{- /*
What the test pod runs. Its last step is the live connection, which needs an account: where the policy
keeps strangers out, it makes sure of that instead.
*/ -}}
{{- define "gatehouse.testScript" -}}
{{- $isRequired := include "gatehouse.value" (dict "root" . "name" "AUTH_REQUIRED_LOGIN_PROVIDERS") -}}
set -eu
refused() {
  if "$@" > /tmp/out 2>&1; then
    cat /tmp/out
    echo "This should have been refused: $*"
    exit 1
  fi
  cat /tmp/out
}
{{- if not (include "gatehouse.isOpen" .) }}
refused gatehouse signup --json
grep -Eq '"code":"(signup-disabled|login-not-offered)"' /tmp/out
echo 'The server answers, and keeps strangers out.'
{{- else if $isRequired }}
gatehouse signup
refused timeout {{ .Values.test.timeoutSeconds }} gatehouse watch --json
grep -q '"code":"provider-required"' /tmp/out
echo 'The server answers, and asks new accounts for an identity provider.'
{{- else }}
gatehouse signup
gatehouse whoami
timeout --preserve-status {{ .Values.test.timeoutSeconds }} gatehouse watch > /tmp/out 2>&1 &
for _ in $(seq {{ .Values.test.timeoutSeconds }}); do
  if grep -q '^Connected to ' /tmp/out; then
    kill "$!"
    cat /tmp/out
    echo 'Signed up, read the account and connected to /v1/updates.'
    exit 0
  fi
  sleep 1
done
cat /tmp/out
echo 'There was no connection to /v1/updates.'
exit 1
{{- end }}
{{- end -}}
