import type { ConfigurationReport } from './environment/configuration-error.js';
import { type Checked, namespaceOf, type ValuesOf, variablesOf } from './environment/variable.js';

const ESCAPES =
  'must have special characters of the user and the password in percent-encoding: % as %25, / as %2F, ? as %3F, # as %23, @ as %40.';

/**
 * Names what to write in the address of a database. A password with special characters, or several
 * hosts, would lead to another host or to none.
 * @param severalHosts the message for several hosts
 */
function mistakesIn(severalHosts: string): (address: string) => string | null {
  return (address) => mistakeIn(address, severalHosts);
}

function mistakeIn(address: string, severalHosts: string): string | null {
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(address) ?? [];
  const hostsAt = authority.lastIndexOf('@') + 1;
  // An unescaped character of the password ends the authority before its `@`.
  const isCut = /^[^?]*@|#|[?&][^=&]*@/.test(rest);
  const isLost = !URL.canParse(address) && rest.includes('@');
  if (isCut || isLost || !isDecodable(authority.slice(0, hostsAt))) {
    return ESCAPES;
  }
  const [, query = ''] = rest.split('?');
  const hosts = authority.slice(hostsAt) + (new URLSearchParams(query).get('host') ?? '');
  return hosts.includes(',') ? severalHosts : null;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '' || text === '';
  } catch {
    return false;
  }
}

const storage = variablesOf('Storage');

const HOSTS = {
  type: 'csv',
  default: [],
  pattern: /^([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/,
  shape: 'host:port',
} as const;

export const STORAGE_VARIABLES = {
  DATABASE_URL: storage(
    {
      type: 'url',
      schemes: ['postgres', 'postgresql'],
      default: null,
      secret: true,
      mistakeIn: mistakesIn(
        'must have one host: a name, a virtual address or a proxy that leads to the primary.',
      ),
    },
    'PostgreSQL database: `postgres://user:password@host:5432/name`. Empty = the embedded database in SERVICE_DATA_DIR.',
  ),
  REDIS_URL: storage(
    {
      type: 'url',
      schemes: ['redis', 'rediss'],
      default: null,
      secret: true,
      mistakeIn: mistakesIn(
        'must have one host: REDIS_SENTINELS and REDIS_CLUSTER_NODES list several.',
      ),
    },
    'Redis that the replicas share: `redis://host:6379`. Empty = there is one replica.',
  ),
  REDIS_SENTINELS: storage(
    HOSTS,
    'Redis Sentinels, `host:26379`. REDIS_URL then has the name of the primary as its host: `redis://mymaster`. Empty = no Sentinel.',
  ),
  REDIS_SENTINEL_PASSWORD: storage(
    { type: 'string', default: null, secret: true },
    'Password of the Sentinels. Empty = none.',
  ),
  REDIS_CLUSTER_NODES: storage(
    HOSTS,
    'First nodes of a Redis Cluster, `host:6379`. REDIS_URL is then another node. Its scheme, user and password apply to all nodes. Empty = no Redis Cluster.',
  ),
  SERVICE_DATA_DIR: storage(
    { type: 'path', default: './data' },
    'Directory of the embedded database and of its master secret.',
  ),
  SERVICE_MASTER_SECRET: storage(
    { type: 'string', default: null, secret: true, minBytes: 32 },
    'At least 32 random bytes (`openssl rand -base64 48`). Token and sealing keys are derived from it. Required with DATABASE_URL.',
  ),
  SERVICE_MASTER_SECRET_PREVIOUS: storage(
    { type: 'csv', default: [], secret: true, minBytes: 32 },
    'Older master secrets. They open sealed values and verify tokens, but make no new ones.',
  ),
  SERVICE_DATABASE_POOL_SIZE: storage(
    { type: 'integer', default: 10, min: 1, max: 500 },
    'Most database connections of this process.',
  ),
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: storage(
    { type: 'integer', default: 3000, min: 100, max: 60_000 },
    'Longest wait for a database connection. The request then gets 503.',
  ),
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: storage(
    { type: 'integer', default: 5000, min: 100, max: 600_000 },
    'Longest time of one SQL statement.',
  ),
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: storage(
    { type: 'integer', default: 3000, min: 100, max: 600_000 },
    'Longest wait of one SQL statement for a lock.',
  ),
  SERVICE_DATABASE_PREPARED_STATEMENTS: storage.onByDefault(
    'Prepares each SQL statement once per connection. Turn it off behind a transaction pooler without prepared statements (PgBouncer before 1.21).',
  ),
};

export const storageConfig = namespaceOf(
  'storage',
  ({ values, secretFile, caBundle }: Checked<typeof STORAGE_VARIABLES>) => ({
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
      databaseUrl: secretFile('DATABASE_URL'),
      masterSecret: secretFile('SERVICE_MASTER_SECRET'),
      masterSecretsPrevious: secretFile('SERVICE_MASTER_SECRET_PREVIOUS'),
    },
    redisUrl: values.REDIS_URL,
    /** `host:port`; with them the host of `redisUrl` is the name of the primary. */
    redisSentinels: values.REDIS_SENTINELS,
    redisSentinelPassword: values.REDIS_SENTINEL_PASSWORD,
    /** `host:port`; with them `redisUrl` is another node of the same Redis Cluster. */
    redisClusterNodes: values.REDIS_CLUSTER_NODES,
    caBundle,
  }),
);

export type StorageSettings = ReturnType<typeof storageConfig>;

type StorageValues = ValuesOf<typeof STORAGE_VARIABLES>;

export function checkStorage(values: StorageValues, report: ConfigurationReport): void {
  checkMasterSecret(values, report);
  checkSslMode(values, report);
  checkRedisDatabase(values, report);
  checkRedisCluster(values, report);
}

/** Replaces modes that pg takes for `verify-full`, with a warning that would break the JSON of the log. */
export function strictSslMode(databaseUrl: string): string {
  const isCompatible = /[?&]uselibpqcompat=true(&|$)/.test(databaseUrl);
  const mode = /([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/g;
  return isCompatible ? databaseUrl : databaseUrl.replaceAll(mode, '$1verify-full');
}

function checkSslMode({ DATABASE_URL: url }: StorageValues, report: ConfigurationReport): void {
  if (url !== null && strictSslMode(url) !== url) {
    const mode = new URL(url).searchParams.get('sslmode');
    report.warn(
      `DATABASE_URL has sslmode=${mode}, by which certificates are verified as by verify-full: write verify-full, or no-verify to trust any certificate.`,
    );
  }
}

function checkMasterSecret(values: StorageValues, report: ConfigurationReport): void {
  const secret = values.SERVICE_MASTER_SECRET;
  if (secret !== null && values.SERVICE_MASTER_SECRET_PREVIOUS.includes(secret)) {
    report.warn('SERVICE_MASTER_SECRET_PREVIOUS repeats the current SERVICE_MASTER_SECRET.');
  }
}

/** The client takes a path that is no number as database 0. */
function checkRedisDatabase({ REDIS_URL: url }: StorageValues, report: ConfigurationReport): void {
  const { pathname, searchParams } = new URL(url ?? 'redis://none');
  if (!/^\/?\d*$/.test(pathname) || /\D/.test(searchParams.get('db') ?? '')) {
    report.problem('REDIS_URL', 'must have the number of a database as its path, or no path.');
  }
}

function checkRedisCluster(values: StorageValues, report: ConfigurationReport): void {
  if (values.REDIS_CLUSTER_NODES.length === 0 || values.REDIS_URL === null) {
    return;
  }
  const { pathname, search } = new URL(values.REDIS_URL);
  if (!['', '/', '/0'].includes(pathname) || search !== '') {
    report.problem(
      'REDIS_URL',
      'must not have a database number or a query with REDIS_CLUSTER_NODES: a Redis Cluster has database 0 only.',
    );
  }
}
