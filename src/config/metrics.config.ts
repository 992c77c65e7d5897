import { registerAs } from '@nestjs/config';
import { unresolved, type Checked, type Variable } from './environment/variable.js';

/** Where /metrics is served; neither port nor token = nowhere. */
export interface MetricsSettings {
  /** null = on the server's own port, if there is a token. */
  readonly port: number | null;
  /** Address that `port` listens on. */
  readonly host: string;
  readonly token: string | null;
}

export interface AuditSettings {
  readonly retentionDays: number;
}

const LOOPBACK = '127.0.0.1';

/** What an operator watches: metrics and the audit trail. */
export const METRICS_VARIABLES = {
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

export const metricsConfig = registerAs(
  'metrics',
  ({ values }: Checked = unresolved('metrics')): MetricsSettings => {
    const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
    return { port, host: host ?? (token === null ? LOOPBACK : values.HOST), token };
  },
);

export const auditConfig = registerAs(
  'audit',
  ({ values }: Checked = unresolved('audit')): AuditSettings => ({
    retentionDays: values.SERVICE_AUDIT_RETENTION_DAYS,
  }),
);
