{{- /* "true" when a stranger can sign up with a device key and be served at once. */ -}}
{{- define "gatehouse.isOpen" -}}
{{- $root := . -}}
{{- $signup := include "gatehouse.flag" (dict "root" $root "name" "AUTH_ANONYMOUS_SIGNUP_ENABLED") -}}
{{- $keyed := include "gatehouse.flag" (dict "root" $root "name" "AUTH_KEY_CHALLENGE_ENABLED") -}}
{{- $isPlain := eq (include "gatehouse.value" (dict "root" $root "name" "SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY")) "plaintext_only" -}}
{{- if and $signup $keyed (not $isPlain) -}}true{{- end -}}
{{- end -}}

{{- /*
What the test pod runs. Its last step is the live connection, which needs an account; the account is
deleted again. Where the policy refuses a new account, it makes sure of that instead.
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
# An account made here could not be deleted again without the identity provider: discovery is enough.
node -e '
  const required = (features) => features.capabilities.auth.login.requiredProviders ?? [];
  fetch(process.env.GATEHOUSE_SERVER + "/v1/features")
    .then((answer) => answer.json())
    .then((features) => process.exit(required(features).length > 0 ? 0 : 1));
'
echo 'The server answers, and requires an identity provider of every account.'
{{- else }}
gatehouse signup
trap 'gatehouse delete-account --yes' EXIT
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
