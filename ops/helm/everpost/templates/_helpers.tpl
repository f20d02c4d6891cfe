{{- define "everpost.name" -}}
{{- if contains "everpost" .Release.Name -}}{{ .Release.Name }}{{- else -}}{{ .Release.Name }}-everpost{{- end -}}
{{- end }}

{{/* The part is api, worker, serve or migrate. */}}
{{- define "everpost.selector" -}}
app.kubernetes.io/name: everpost
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "everpost.labels" -}}
{{ include "everpost.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "everpost.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* In every container, not in a ConfigMap: the migration runs before the rest of the release exists. */}}
{{- define "everpost.environment" -}}
envFrom:
  - secretRef: { name: {{ .Values.secretName | quote }} }
env:
  - { name: NODE_ENV, value: production }
  - { name: SHUTDOWN_GRACE_SECONDS, value: {{ .Values.shutdownGraceSeconds | quote }} }
  - { name: TEMPORAL_ADDRESS, value: {{ required "temporal.address is required: host:port of Temporal" .Values.temporal.address | quote }} }
  - { name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
  {{- if .Values.temporal.tlsSecretName }}
  - { name: TEMPORAL_TLS_CA, value: /etc/everpost/temporal/ca.crt }
  - { name: TEMPORAL_TLS_CERT, value: /etc/everpost/temporal/tls.crt }
  - { name: TEMPORAL_TLS_KEY, value: /etc/everpost/temporal/tls.key }
  {{- end }}
  {{- with .Values.database }}
  {{- if .secretName }}
  - name: DATABASE_URL
    valueFrom: { secretKeyRef: { name: {{ .secretName | quote }}, key: {{ .secretKey | quote }} } }
  {{- end }}
  {{- end }}
  {{- $_ := required "settings.BASE_URL is required: the public address of the API" .Values.settings.BASE_URL }}
  {{- range $name, $value := .Values.settings }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
{{- end }}

{{- define "everpost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "everpost.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "everpost.mounts" -}}
{{- if or .Values.temporal.tlsSecretName .Values.uploads.existingClaim }}
volumeMounts:
  {{- if .Values.temporal.tlsSecretName }}
  - { name: temporal-tls, mountPath: /etc/everpost/temporal, readOnly: true }
  {{- end }}
  {{- if .Values.uploads.existingClaim }}
  - { name: uploads, mountPath: /app/.everpost/uploads }
  {{- end }}
{{- end }}
{{- end }}

{{- define "everpost.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- if or .Values.temporal.tlsSecretName .Values.uploads.existingClaim }}
volumes:
  {{- if .Values.temporal.tlsSecretName }}
  - { name: temporal-tls, secret: { secretName: {{ .Values.temporal.tlsSecretName | quote }} } }
  {{- end }}
  {{- if .Values.uploads.existingClaim }}
  - { name: uploads, persistentVolumeClaim: { claimName: {{ .Values.uploads.existingClaim | quote }} } }
  {{- end }}
{{- end }}
{{- end }}
