import { isLoopbackHost } from '../../core/policy/flow/return-address.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import {
  HOST_NAME,
  namespaceOf,
  variablesOf,
  type Checked,
  type ValuesOf,
} from './environment/variable.js';
import type { HTTP_VARIABLES } from './http.config.js';

const LOOPBACK = '127.0.0.1';

const monitoring = variablesOf('Metrics and audit');

export const METRICS_VARIABLES = {
  METRICS_PORT: monitoring(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Separate port for /metrics, on METRICS_HOST. Empty = no separate port.',
  ),
  METRICS_HOST: monitoring(
    { ...HOST_NAME, default: null },
    'Address of METRICS_PORT. Empty = HOST if METRICS_TOKEN is set, else 127.0.0.1. Without a token every client that reaches the port reads the metrics.',
  ),
  METRICS_TOKEN: monitoring(
    { type: 'string', default: null, secret: true, minBytes: 16 },
    'Bearer token of /metrics. If METRICS_PORT is empty, PORT serves /metrics. Without both there are no metrics.',
  ),
  SERVICE_AUDIT_RETENTION_DAYS: monitoring(
    { type: 'integer', default: 365, min: 1, max: 3650 },
    'Days that the database keeps an audit event.',
  ),
  AUDIT_REFUSED_LOGINS_DAYS: monitoring(
    { type: 'integer', default: 30, min: 1, max: 3650 },
    'Days that the audit trail keeps refused people (provider, login, e-mail address, client address) and refused calls of the administration API.',
  ),
};

/** Address of /metrics: its own port, or the server's port if only a token is set. */
export const metricsConfig = namespaceOf(
  'metrics',
  ({ values, secretFile }: Checked<typeof METRICS_VARIABLES & typeof HTTP_VARIABLES>) => {
    const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
    return {
      port,
      host: host ?? (token === null ? LOOPBACK : values.HOST),
      token,
      tokenFile: secretFile('METRICS_TOKEN'),
    };
  },
);

export type MetricsSettings = ReturnType<typeof metricsConfig>;

export const auditConfig = namespaceOf(
  'audit',
  ({ values }: Checked<typeof METRICS_VARIABLES>) => ({
    retentionDays: values.SERVICE_AUDIT_RETENTION_DAYS,
    refusedLoginsDays: values.AUDIT_REFUSED_LOGINS_DAYS,
  }),
);

export type AuditSettings = ReturnType<typeof auditConfig>;

/** Metrics contain provider names, routes and counts of failed logins. */
export function checkMetrics(
  values: ValuesOf<typeof METRICS_VARIABLES>,
  report: ConfigurationReport,
): void {
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
  const isOpen = port !== null && token === null && !report.has('METRICS_TOKEN');
  if (isOpen && host !== null && !isLoopbackHost(host === '::1' ? '[::1]' : host)) {
    report.warn(
      `METRICS_HOST is ${host} and there is no METRICS_TOKEN: every client that reaches METRICS_PORT reads the metrics. Set METRICS_TOKEN, or let the network limit who reaches the port.`,
    );
  }
}
