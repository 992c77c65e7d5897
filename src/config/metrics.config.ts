import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';

const LOOPBACK = '127.0.0.1';

const monitoring = variablesOf('Metrics and audit');

/** What an operator watches: metrics and the audit trail. */
export const METRICS_VARIABLES = {
  METRICS_PORT: monitoring(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Port of its own for /metrics, on METRICS_HOST. Empty = no such port.',
  ),
  METRICS_HOST: monitoring(
    {
      type: 'string',
      default: null,
      pattern: /^[\w.:%-]+$/,
      shape: 'an IP address or a host name',
    },
    'Address that METRICS_PORT listens on. Empty = HOST with METRICS_TOKEN, else 127.0.0.1: without a token every client that reaches the port reads the metrics.',
  ),
  METRICS_TOKEN: monitoring(
    { type: 'string', default: null, secret: true, minBytes: 16 },
    'Bearer token that /metrics asks for; with it /metrics is served on PORT when METRICS_PORT is empty. Neither set = no metrics.',
  ),
  SERVICE_AUDIT_RETENTION_DAYS: monitoring(
    { type: 'integer', default: 365, min: 1, max: 3650 },
    'Days an audit event is kept in the database.',
  ),
} as const satisfies Record<string, Variable>;

/**
 * Where /metrics is served; neither port nor token = nowhere. Without a port: on the server's own, if
 * there is a token.
 */
export const metricsConfig = namespaceOf('metrics', ({ values, secretFiles }) => {
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
  return {
    port,
    host: host ?? (token === null ? LOOPBACK : values.HOST),
    token,
    tokenFile: secretFiles.get('METRICS_TOKEN') ?? null,
  };
});

export const auditConfig = namespaceOf('audit', ({ values }) => ({
  retentionDays: values.SERVICE_AUDIT_RETENTION_DAYS,
}));
