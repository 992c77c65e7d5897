import { registerAs } from '@nestjs/config';
import { unresolved, type Checked, type Variable } from './environment/variable.js';

export interface StorageSettings {
  /** null = the embedded database under {@link dataDir}. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Whether statements are prepared once per connection; the embedded database never does. */
  readonly preparedStatements: boolean;
  /** null only with the embedded database, which makes one and keeps it in {@link dataDir}. */
  readonly masterSecret: string | null;
  /** Older master secrets: they still open seals and verify tokens, and never make new ones. */
  readonly masterSecretsPrevious: readonly string[];
  readonly redisUrl: string | null;
}

/** Where state is kept, and the secrets that seal it. */
export const STORAGE_VARIABLES = {
  DATABASE_URL: {
    group: 'Storage',
    type: 'url',
    schemes: ['postgres', 'postgresql'],
    default: null,
    secret: true,
    doc: 'PostgreSQL to use, `postgres://user:password@host:5432/name`. Empty = the embedded database in SERVICE_DATA_DIR.',
  },
  REDIS_URL: {
    group: 'Storage',
    type: 'url',
    schemes: ['redis', 'rediss'],
    default: null,
    secret: true,
    doc: 'Redis shared by the replicas, `redis://host:6379`. Empty = this process is the only one.',
  },
  SERVICE_DATA_DIR: {
    group: 'Storage',
    type: 'path',
    default: './data',
    doc: 'Directory of the embedded database and of the master secret it makes.',
  },
  SERVICE_MASTER_SECRET: {
    group: 'Storage',
    type: 'string',
    default: null,
    secret: true,
    minBytes: 32,
    doc: 'At least 32 random bytes (`openssl rand -base64 48`) from which token and sealing keys are derived. Required with DATABASE_URL.',
  },
  SERVICE_MASTER_SECRET_PREVIOUS: {
    group: 'Storage',
    type: 'csv',
    default: [],
    secret: true,
    minBytes: 32,
    doc: 'Older master secrets, comma-separated: they still open seals and verify tokens, and never make new ones.',
  },
  SERVICE_DATABASE_POOL_SIZE: {
    group: 'Storage',
    type: 'integer',
    default: 10,
    min: 1,
    max: 500,
    doc: 'Database connections this process may hold.',
  },
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: {
    group: 'Storage',
    type: 'integer',
    default: 3000,
    min: 100,
    max: 60_000,
    doc: 'Time to get a database connection before the request is answered 503.',
  },
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: {
    group: 'Storage',
    type: 'integer',
    default: 5000,
    min: 100,
    max: 600_000,
    doc: 'Time one SQL statement may take.',
  },
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: {
    group: 'Storage',
    type: 'integer',
    default: 3000,
    min: 100,
    max: 600_000,
    doc: 'Time one SQL statement may wait for a lock.',
  },
  SERVICE_DATABASE_PREPARED_STATEMENTS: {
    group: 'Storage',
    type: 'boolean',
    default: true,
    doc: 'Prepare each SQL statement once per connection. Turn it off behind a pooler that hands out a connection per transaction and knows no prepared statements (PgBouncer before 1.21).',
  },
} as const satisfies Record<string, Variable>;

export const storageConfig = registerAs(
  'storage',
  ({ values }: Checked = unresolved('storage')): StorageSettings => ({
    databaseUrl: values.DATABASE_URL,
    dataDir: values.SERVICE_DATA_DIR,
    poolSize: values.SERVICE_DATABASE_POOL_SIZE,
    connectTimeoutMs: values.SERVICE_DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: values.SERVICE_DATABASE_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: values.SERVICE_DATABASE_LOCK_TIMEOUT_MS,
    preparedStatements: values.SERVICE_DATABASE_PREPARED_STATEMENTS,
    masterSecret: values.SERVICE_MASTER_SECRET,
    masterSecretsPrevious: values.SERVICE_MASTER_SECRET_PREVIOUS,
    redisUrl: values.REDIS_URL,
  }),
);
