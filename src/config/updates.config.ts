import { registerAs } from '@nestjs/config';
import { unresolved, type Checked, type Variable } from './environment/variable.js';

export type UpdatesTransport = 'websocket' | 'polling';

export interface UpdatesSettings {
  readonly transports: readonly UpdatesTransport[];
  /** Live connections one process accepts. */
  readonly maxConnections: number;
  /** Live connections of one account on one process. */
  readonly maxConnectionsPerAccount: number;
  /** Connections of one process that have not authenticated yet. */
  readonly maxUnauthenticated: number;
  readonly maxUnauthenticatedPerIp: number;
}

/** Live connections at /v1/updates. */
export const UPDATES_VARIABLES = {
  SERVICE_UPDATES_TRANSPORTS: {
    group: 'Live updates',
    type: 'csv',
    default: ['websocket'],
    values: ['websocket', 'polling'],
    lowerCase: true,
    nonEmpty: true,
    doc: 'Transports of /v1/updates. polling needs sticky sessions when there are several replicas.',
  },
  SERVICE_UPDATES_MAX_CONNECTIONS: {
    group: 'Live updates',
    type: 'integer',
    default: 20_000,
    min: 1,
    max: 1_000_000,
    doc: 'Live connections one process accepts.',
  },
  SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT: {
    group: 'Live updates',
    type: 'integer',
    default: 100,
    min: 1,
    max: 100_000,
    doc: 'Live connections of one account on one process.',
  },
  SERVICE_UPDATES_MAX_UNAUTHENTICATED: {
    group: 'Live updates',
    type: 'integer',
    default: 1000,
    min: 1,
    max: 1_000_000,
    doc: 'Connections of one process that have not authenticated yet. One more closes the oldest of them.',
  },
  SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP: {
    group: 'Live updates',
    type: 'integer',
    default: 100,
    min: 1,
    max: 1_000_000,
    doc: 'The same, of one address (IPv6: of one /64).',
  },
} as const satisfies Record<string, Variable>;

export const updatesConfig = registerAs(
  'updates',
  ({ values }: Checked = unresolved('updates')): UpdatesSettings => ({
    transports: values.SERVICE_UPDATES_TRANSPORTS,
    maxConnections: values.SERVICE_UPDATES_MAX_CONNECTIONS,
    maxConnectionsPerAccount: values.SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT,
    maxUnauthenticated: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED,
    maxUnauthenticatedPerIp: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP,
  }),
);
