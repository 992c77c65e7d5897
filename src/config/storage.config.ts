import type { ConfigType } from '@nestjs/config';
import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';

const storage = variablesOf('Storage');

/** Addresses of servers. */
const HOSTS = {
  type: 'csv',
  default: [],
  pattern: /^([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/,
  shape: 'host:port',
} as const;

/** Where state is kept, and the secrets that seal it. */
export const STORAGE_VARIABLES = {
  DATABASE_URL: storage(
    { type: 'url', schemes: ['postgres', 'postgresql'], default: null, secret: true },
    'PostgreSQL to use, `postgres://user:password@host:5432/name`. Empty = the embedded database in SERVICE_DATA_DIR.',
  ),
  REDIS_URL: storage(
    { type: 'url', schemes: ['redis', 'rediss'], default: null, secret: true },
    'Redis shared by the replicas, `redis://host:6379`. Empty = this process is the only one.',
  ),
  REDIS_SENTINELS: storage(
    HOSTS,
    'Redis Sentinels that name the current primary, `host:26379`. The host of REDIS_URL is then the name of the primary, `redis://mymaster`. Empty = no Sentinel.',
  ),
  REDIS_SENTINEL_PASSWORD: storage(
    { type: 'string', default: null, secret: true },
    'Password of the Sentinels themselves. Empty = none.',
  ),
  REDIS_CLUSTER_NODES: storage(
    HOSTS,
    'Nodes of a Redis Cluster to begin with, `host:6379`; the others are found through them. REDIS_URL is then one node more, and its scheme, user and password are those of all nodes. Empty = no Redis Cluster.',
  ),
  SERVICE_DATA_DIR: storage(
    { type: 'path', default: './data' },
    'Directory of the embedded database and of the master secret it makes.',
  ),
  SERVICE_MASTER_SECRET: storage(
    { type: 'string', default: null, secret: true, minBytes: 32 },
    'At least 32 random bytes (`openssl rand -base64 48`) from which token and sealing keys are derived. Required with DATABASE_URL.',
  ),
  SERVICE_MASTER_SECRET_PREVIOUS: storage(
    { type: 'csv', default: [], secret: true, minBytes: 32 },
    'Older master secrets, comma-separated: they still open seals and verify tokens, and never make new ones.',
  ),
  SERVICE_DATABASE_POOL_SIZE: storage(
    { type: 'integer', default: 10, min: 1, max: 500 },
    'Database connections this process may hold.',
  ),
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: storage(
    { type: 'integer', default: 3000, min: 100, max: 60_000 },
    'Time to get a database connection before the request is answered 503.',
  ),
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: storage(
    { type: 'integer', default: 5000, min: 100, max: 600_000 },
    'Time one SQL statement may take.',
  ),
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: storage(
    { type: 'integer', default: 3000, min: 100, max: 600_000 },
    'Time one SQL statement may wait for a lock.',
  ),
  SERVICE_DATABASE_PREPARED_STATEMENTS: storage(
    { type: 'boolean', default: true },
    'Prepare each SQL statement once per connection. Turn it off behind a pooler that hands out a connection per transaction and knows no prepared statements (PgBouncer before 1.21).',
  ),
} as const satisfies Record<string, Variable>;

export const storageConfig = namespaceOf('storage', ({ values, secretFiles, caBundle }) => ({
  /** null = the embedded database under `dataDir`. */
  databaseUrl: values.DATABASE_URL,
  dataDir: values.SERVICE_DATA_DIR,
  poolSize: values.SERVICE_DATABASE_POOL_SIZE,
  connectTimeoutMs: values.SERVICE_DATABASE_CONNECT_TIMEOUT_MS,
  statementTimeoutMs: values.SERVICE_DATABASE_STATEMENT_TIMEOUT_MS,
  lockTimeoutMs: values.SERVICE_DATABASE_LOCK_TIMEOUT_MS,
  preparedStatements: values.SERVICE_DATABASE_PREPARED_STATEMENTS,
  /** null only with the embedded database, which makes one and keeps it in `dataDir`. */
  masterSecret: values.SERVICE_MASTER_SECRET,
  masterSecretsPrevious: values.SERVICE_MASTER_SECRET_PREVIOUS,
  /** Files of secrets that are read again while the server runs; null = not given as a file. */
  files: {
    databaseUrl: secretFiles.get('DATABASE_URL') ?? null,
    masterSecret: secretFiles.get('SERVICE_MASTER_SECRET') ?? null,
    masterSecretsPrevious: secretFiles.get('SERVICE_MASTER_SECRET_PREVIOUS') ?? null,
  },
  redisUrl: values.REDIS_URL,
  /** `host:port`; with them the host of `redisUrl` is the name of the primary. */
  redisSentinels: values.REDIS_SENTINELS,
  redisSentinelPassword: values.REDIS_SENTINEL_PASSWORD,
  /** `host:port`; with them `redisUrl` is another node of the same Redis Cluster. */
  redisClusterNodes: values.REDIS_CLUSTER_NODES,
  /** PEM of authorities trusted beside those of Node.js; null = none. */
  caBundle,
}));

export type StorageSettings = ConfigType<typeof storageConfig>;
