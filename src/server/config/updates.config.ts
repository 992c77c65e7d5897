import { namespaceOf, variablesOf, type Checked } from './environment/variable.js';

const updates = variablesOf('Live updates');

export const UPDATES_VARIABLES = {
  SERVICE_UPDATES_TRANSPORTS: updates(
    {
      type: 'csv',
      default: ['websocket'],
      values: ['websocket', 'polling'],
      lowerCase: true,
      nonEmpty: true,
    },
    'Transports of /v1/updates. With several replicas, polling needs sticky sessions.',
  ),
  SERVICE_UPDATES_MAX_CONNECTIONS: updates(
    { type: 'integer', default: 20_000, min: 1, max: 1_000_000 },
    'Most live connections of one process.',
  ),
  SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT: updates(
    { type: 'integer', default: 100, min: 1, max: 100_000 },
    'Most live connections of one account on one process. One session may have half of them.',
  ),
  SERVICE_UPDATES_MAX_UNAUTHENTICATED: updates(
    { type: 'integer', default: 1000, min: 1, max: 1_000_000 },
    'Most unauthenticated connections of one process. One more closes the oldest.',
  ),
  SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP: updates(
    { type: 'integer', default: 100, min: 1, max: 1_000_000 },
    'Most unauthenticated connections of one address (IPv6: one /64).',
  ),
  SERVICE_UPDATES_MAX_WAITING_HANDSHAKES: updates(
    { type: 'integer', default: 20_000, min: 1, max: 100_000 },
    'Most handshakes that wait in one process. One more gets 503 with a time to retry.',
  ),
};

export const updatesConfig = namespaceOf(
  'updates',
  ({ values }: Checked<typeof UPDATES_VARIABLES>) => ({
    transports: values.SERVICE_UPDATES_TRANSPORTS,
    maxConnections: values.SERVICE_UPDATES_MAX_CONNECTIONS,
    maxConnectionsPerAccount: values.SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT,
    maxUnauthenticated: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED,
    maxUnauthenticatedPerIp: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP,
    maxWaitingHandshakes: values.SERVICE_UPDATES_MAX_WAITING_HANDSHAKES,
  }),
);

export type UpdatesSettings = ReturnType<typeof updatesConfig>;
