{{- define "gatehouse.isDirect" -}}
{{- if and .Values.mtls.enabled (eq .Values.mtls.mode "direct") -}}true{{- end -}}
{{- end -}}

{{- /* Variables of the server's container, and of the init container that migrates. */ -}}
{{- define "gatehouse.serverEnv" -}}
envFrom:
  - configMapRef:
      name: {{ include "gatehouse.fullname" . | toYaml }}
  {{- with .Values.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $names := (include "gatehouse.variables" . | fromJson).secrets }}
{{- if or .Values.secrets .Values.extraEnv }}
env:
  {{- include "gatehouse.secretEnv" (dict "root" . "names" $names) | nindent 2 }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "gatehouse.serverMounts" -}}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- if not (include "gatehouse.hasDatabase" .) }}
  - name: data
    mountPath: {{ include "gatehouse.value" (dict "root" . "name" "SERVICE_DATA_DIR") }}
  {{- end }}
  {{- if include "gatehouse.hasSecrets" . }}
  - name: secrets
    mountPath: /run/secrets/gatehouse
    readOnly: true
  {{- end }}
  {{- if or .Values.providers.list .Values.providers.existingSecret }}
  - name: providers
    mountPath: /etc/gatehouse/providers
    readOnly: true
  {{- end }}
  {{- if .Values.resourceServers.list }}
  - name: resource-servers
    mountPath: /etc/gatehouse/resource-servers
    readOnly: true
  {{- end }}
  {{- if .Values.tls.existingSecret }}
  - name: server-tls
    mountPath: /etc/gatehouse/server-tls
    readOnly: true
  {{- end }}
  {{- if .Values.administration.enabled }}
  {{- if .Values.administration.tokens.existingSecret }}
  - name: admin
    mountPath: /etc/gatehouse/admin
    readOnly: true
  {{- end }}
  {{- if .Values.administration.tls.existingSecret }}
  - name: admin-tls
    mountPath: /etc/gatehouse/admin-tls
    readOnly: true
  {{- end }}
  {{- end }}
  {{- if include "gatehouse.hasCaBundle" . }}
  {{- include "gatehouse.caBundleMount" . | nindent 2 }}
  {{- end }}
  {{- if include "gatehouse.isDirect" . }}
  - name: tls
    mountPath: /etc/gatehouse/tls
    readOnly: true
  {{- end }}
  {{- if .Values.mtls.enabled }}
  {{- if or .Values.mtls.clientCa.existingConfigMap .Values.mtls.clientCa.existingSecret }}
  - name: client-ca
    mountPath: /etc/gatehouse/client-ca
    readOnly: true
  {{- end }}
  {{- if .Values.mtls.crl.existingConfigMap }}
  - name: crl
    mountPath: /etc/gatehouse/crl
    readOnly: true
  {{- end }}
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
