import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { Client } from 'pg';
import { freePort, type Service, startService } from './service-process.ts';

export type { Service } from './service-process.ts';

/** PEM texts. */
export interface ServiceTls {
  readonly cert: string;
  readonly key: string;
}

export interface PostgresOptions {
  /** False makes it faster and unfit for tests that kill it. Default true. */
  readonly durable?: boolean;
  /** Speaks TLS too, with this certificate. */
  readonly tls?: ServiceTls;
  /** Further `postgres -c` settings. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/**
 * Starts a private PostgreSQL cluster on a free port of 127.0.0.1. `url` points at its database
 * `postgres`; every connection is trusted. Started by root, it runs as the user `postgres`.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Service> {
  const bin = postgresBinaries();
  const owner = process.getuid?.() === 0 ? systemUser('postgres') : {};
  const home = privateDirectory('gatehouse-pg-', owner);
  const data = join(home, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...owner, cwd: home, stdio: 'pipe' },
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: home,
    max_connections: 200,
    ...(options.tls && { ssl: 'on', ...tlsFiles(home, options.tls, 'ssl_', owner) }),
    ...(options.durable === false ? { fsync: 'off', synchronous_commit: 'off' } : {}),
    ...options.settings,
  };
  return startService({
    file: join(bin, 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([key, v]) => ['-c', `${key}=${v}`])],
    url,
    home,
    ...owner,
    stopSignal: 'SIGINT',
    probe: () => runSql(url, 'select 1'),
  });
}

export interface RedisOptions {
  /** Speaks nothing but TLS, with this certificate. */
  readonly tls?: ServiceTls;
  /** Further `redis-server --name value` settings. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** Starts a private Redis, kept in memory only, on a free port of 127.0.0.1. */
export async function startRedis(options: RedisOptions = {}): Promise<Service> {
  const file = findExecutable('redis-server', pathDirectories(), 'redis-server');
  const home = privateDirectory('gatehouse-redis-', {});
  const port = await freePort();
  const ports = options.tls
    ? { port: 0, 'tls-port': port, 'tls-auth-clients': 'no', ...redisFiles(home, options.tls) }
    : { port };
  const settings = { bind: '127.0.0.1', ...ports, dir: home, save: '', ...options.settings };
  return startService({
    file,
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, `${value}`]),
    url: `${options.tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    home,
    stopSignal: 'SIGTERM',
    probe: () =>
      ping(
        options.tls
          ? tlsConnect({ ...local(port), rejectUnauthorized: false })
          : connect(local(port)),
      ),
  });
}

/** Starts a Redis Sentinel that alone decides about the primary at the port. */
export async function startSentinel(name: string, primaryPort: number): Promise<Service> {
  const file = findExecutable('redis-server', pathDirectories(), 'redis-server');
  const home = privateDirectory('gatehouse-sentinel-', {});
  const port = await freePort();
  const path = join(home, 'sentinel.conf');
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${home}`],
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 1`,
    `sentinel down-after-milliseconds ${name} 1000`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  return startService({
    file,
    args: [path, '--sentinel'],
    url: `redis://127.0.0.1:${port}`,
    home,
    stopSignal: 'SIGTERM',
    probe: () => ping(connect(local(port))),
  });
}

export interface TestDatabase {
  readonly url: string;
  /** Cuts every connection to the database and drops it. */
  drop(): Promise<void>;
}

export interface DatabaseOptions {
  readonly name?: string;
  /** A database to copy that has no connections; default: an empty one. */
  readonly template?: string;
}

/** Makes a fresh database on the server of `url`. */
export async function createDatabase(
  url: string,
  { name = `test_${randomBytes(6).toString('hex')}`, template = 'template1' }: DatabaseOptions = {},
): Promise<TestDatabase> {
  const identifier = `"${name.replaceAll('"', '""')}"`;
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ knows: boolean }>(
      `select current_setting('server_version_num')::int >= 150000 as knows`,
    );
    // A fifth of the work of writing every page to the log; PostgreSQL 14 does nothing else.
    const strategy = rows[0]?.knows === true ? 'strategy file_copy' : '';
    await client.query(`create database ${identifier} template "${template}" ${strategy}`);
  });
  const own = new URL(url);
  own.pathname = `/${encodeURIComponent(name)}`;
  return {
    url: own.href,
    drop: () => runSql(url, `drop database if exists ${identifier} with (force)`),
  };
}

/** Runs the migrations of the build on a database, in a process of its own. */
export function migrateDatabase(url: string): void {
  execFileSync(process.execPath, ['dist/bin/gatehouse.js', 'migrate'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: url,
      SERVICE_MASTER_SECRET: 'for-migrations-only-0123456789-0123456789',
      SERVICE_DATABASE_CONNECT_TIMEOUT_MS: '60000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function runSql(url: string, sql: string): Promise<void> {
  return withClient(url, async (client) => void (await client.query(sql)));
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 60_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function ping(socket: Socket): Promise<void> {
  return new Promise((done, fail) => {
    socket.setTimeout(1000, () => socket.destroy(new Error('no answer')));
    socket.on('error', fail);
    socket.once('data', (answer: Buffer) => {
      socket.destroy();
      // It asks for a password, so it is there.
      if (/^(\+PONG|-NOAUTH)/.test(answer.toString())) {
        done();
      } else {
        fail(new Error(answer.toString()));
      }
    });
    socket.write('PING\r\n');
  });
}

const local = (port: number) => ({ host: '127.0.0.1', port });

/** Settings of PostgreSQL, which takes a key that only its own user reads. */
function tlsFiles(
  home: string,
  { cert, key }: ServiceTls,
  prefix: string,
  { uid, gid }: Owner,
): Record<string, string> {
  const entries = [['cert', cert] as const, ['key', key] as const].map(([name, text]) => {
    const path = join(home, `${name}.pem`);
    writeFileSync(path, text, { mode: 0o600 });
    if (uid !== undefined && gid !== undefined) {
      chownSync(path, uid, gid);
    }
    return [`${prefix}${name}_file`, path];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function redisFiles(home: string, tls: ServiceTls): Record<string, string> {
  const files = Object.entries(tlsFiles(home, tls, 'tls-', {}));
  return Object.fromEntries(files.map(([name, path]) => [name.replaceAll('_', '-'), path]));
}

export function postgresBinaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
  const directories = [...newestFirst.map((v) => join(root, v, 'bin')), ...pathDirectories()];
  return join(findExecutable('initdb', directories, 'postgresql'), '..');
}

function findExecutable(name: string, directories: readonly string[], debian: string): string {
  const found = directories.map((directory) => join(directory, name)).find((f) => existsSync(f));
  if (!found) {
    throw new Error(
      `These tests need ${name}, which is not installed. On Debian: apt-get install ${debian}`,
    );
  }
  return found;
}

function pathDirectories(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

function systemUser(name: string): Owner {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
  return { uid: id('-u'), gid: id('-g') };
}

function privateDirectory(prefix: string, { uid, gid }: Owner): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (uid !== undefined && gid !== undefined) {
    chownSync(path, uid, gid);
  }
  return path;
}
