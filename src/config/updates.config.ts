import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';

const updates = variablesOf('Live updates');

/** Live connections at /v1/updates. */
export const UPDATES_VARIABLES = {
  SERVICE_UPDATES_TRANSPORTS: updates(
    {
      type: 'csv',
      default: ['websocket'],
      values: ['websocket', 'polling'],
      lowerCase: true,
      nonEmpty: true,
    },
    'Transports of /v1/updates. polling needs sticky sessions when there are several replicas.',
  ),
  SERVICE_UPDATES_MAX_CONNECTIONS: updates(
    { type: 'integer', default: 20_000, min: 1, max: 1_000_000 },
    'Live connections one process accepts.',
  ),
  SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT: updates(
    { type: 'integer', default: 100, min: 1, max: 100_000 },
    'Live connections of one account on one process.',
  ),
  SERVICE_UPDATES_MAX_UNAUTHENTICATED: updates(
    { type: 'integer', default: 1000, min: 1, max: 1_000_000 },
    'Connections of one process that have not authenticated yet. One more closes the oldest of them.',
  ),
  SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP: updates(
    { type: 'integer', default: 100, min: 1, max: 1_000_000 },
    'The same, of one address (IPv6: of one /64).',
  ),
  SERVICE_UPDATES_MAX_WAITING_HANDSHAKES: updates(
    { type: 'integer', default: 500, min: 1, max: 100_000 },
    'Handshakes that wait for their turn in one process. One more is answered 503 with a time to retry.',
  ),
} as const satisfies Record<string, Variable>;

export const updatesConfig = namespaceOf('updates', ({ values }) => ({
  transports: values.SERVICE_UPDATES_TRANSPORTS,
  maxConnections: values.SERVICE_UPDATES_MAX_CONNECTIONS,
  maxConnectionsPerAccount: values.SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT,
  maxUnauthenticated: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED,
  maxUnauthenticatedPerIp: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP,
  maxWaitingHandshakes: values.SERVICE_UPDATES_MAX_WAITING_HANDSHAKES,
}));
