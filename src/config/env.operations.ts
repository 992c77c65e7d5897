import type { Variable } from './variable.js';

/** What an operator watches: metrics and the audit trail. */
export const OPERATIONS_VARIABLES = {
  METRICS_PORT: {
    group: 'Metrics and audit',
    type: 'integer',
    default: null,
    min: 0,
    max: 65_535,
    doc: 'Port of its own for /metrics, on METRICS_HOST. Empty = no such port.',
  },
  METRICS_HOST: {
    group: 'Metrics and audit',
    type: 'string',
    default: null,
    pattern: /^[\w.:%-]+$/,
    shape: 'an IP address or a host name',
    doc: 'Address that METRICS_PORT listens on. Empty = HOST with METRICS_TOKEN, else 127.0.0.1: without a token every client that reaches the port reads the metrics.',
  },
  METRICS_TOKEN: {
    group: 'Metrics and audit',
    type: 'string',
    default: null,
    secret: true,
    minBytes: 16,
    doc: 'Bearer token that /metrics asks for; with it /metrics is served on PORT when METRICS_PORT is empty. Neither set = no metrics.',
  },
  SERVICE_AUDIT_RETENTION_DAYS: {
    group: 'Metrics and audit',
    type: 'integer',
    default: 365,
    min: 1,
    max: 3650,
    doc: 'Days an audit event is kept in the database.',
  },
} as const satisfies Record<string, Variable>;
