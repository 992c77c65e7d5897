import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import {
  call,
  expectErrorShape,
  logIn,
  loginBody,
  makeDeviceKey,
  type Answer,
  type Login,
} from '../../helpers/client.js';
import { createPostgresStore } from '../../fixtures/programs/store-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { startPostgres, runSql } from '../../fixtures/programs/services-fixture.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { linesAfterStart } from '../../helpers/log-lines.js';
import { waitFor } from '../../helpers/wait.js';
import { hashOf, makeX25519Key } from '../../helpers/device-calls.js';

const TIMEOUTS = {
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: '1000',
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: '1000',
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: '500',
};

/** `timeoutSeconds` of the chart's probes. {@link startServer} permits a statement a minute. */
const PROBE_TIMEOUT_MS = 3000;

/** The first messages of the answers to a start, and to a statement. */
const AUTHENTICATED = 'R'.charCodeAt(0);
const PARSED = '1'.charCodeAt(0);
/** ReadyForQuery, outside of a transaction (PostgreSQL manual, "Message Formats"). */
const READY = Buffer.from('Z\0\0\0\x05I');
/** ErrorResponse of a connection that the server ends. */
const ENDED = errorResponse({ S: 'FATAL', V: 'FATAL', C: '57P01', M: 'terminating connection' });
/** That of a transaction in which the server was stopped, as with its machine. */
const IDLE = errorResponse({ S: 'FATAL', V: 'FATAL', C: '25P03', M: 'terminating connection' });

const postgres = await startPostgres({ durable: true });
const store = await createPostgresStore(postgres.url);
const server = await startServer({ store, env: TIMEOUTS });
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

describe('a database that fails under load (PostgreSQL only: it is killed and stopped)', () => {
  it('loses no acknowledged sign-up when the database is killed, and answers 503 until it is back', async () => {
    const load = new SignUps(server);
    await load.until(() => load.acknowledged.size >= 100);
    await postgres.kill('SIGKILL');
    await load.until(() => load.refused >= 20);
    await postgres.restart();
    await load.recover();
    await load.stop();
    expect(load.surprises).toEqual([]);
    await expectAllThere(server, load.acknowledged);
    await server.logged(/The database is available again/);
    expect(linesAfterStart(server)).toEqual([
      expect.stringMatching(/^error The database is not available: /),
      'info The database is available again.',
    ]);
  });

  it('answers 503 in a bounded time while the database hangs, and admits no revoked token', async () => {
    const session = await logInInTime(server);
    await waitFor('the session is ended', async () => {
      const path = '/v1/auth/logout-everywhere';
      return (await call(server, 'POST', path, { token: session.token })).status !== 503;
    });
    const load = new SignUps(server);
    await load.until(() => load.acknowledged.size >= 50);
    await postgres.kill('SIGSTOP');
    await load.until(() => load.refused >= 20);
    const revoked = await call(server, 'GET', '/v1/account/profile', { token: session.token });
    expect([401, 503]).toContain(revoked.status);
    await postgres.kill('SIGCONT');
    await load.recover();
    await load.stop();
    expect(load.surprises).toEqual([]);
    await expectAllThere(server, load.acknowledged);
  });

  it('answers probes within their limit while the database hangs for longer', async () => {
    const patient = await startServer({ store });
    try {
      await postgres.kill('SIGSTOP');
      // One answer may be of a statement that ended just before.
      await waitFor('away', async () => (await call(patient, 'GET', '/readyz')).status === 503);
      for (let round = 0; round < 3; round += 1) {
        const startedAt = performance.now();
        const answer = await call(patient, 'GET', '/readyz');
        expect(performance.now() - startedAt).toBeLessThan(PROBE_TIMEOUT_MS);
        expect(answer).toMatchObject({
          status: 503,
          body: { dependencies: { database: 'away' } },
        });
      }
      expect((await call(patient, 'GET', '/livez')).status).toBe(200);
      await postgres.kill('SIGCONT');
      await waitFor('ready', async () => (await call(patient, 'GET', '/readyz')).status === 200);
    } finally {
      await postgres.kill('SIGCONT');
      await patient.stop();
    }
  });

  it('waits for the database when the server starts without it', async () => {
    const { token } = await logInInTime(server);
    await postgres.kill('SIGKILL');
    const early = await startServer({ store, untilReady: false });
    try {
      const notYet = await call(early, 'GET', '/readyz');
      expect(notYet.status).toBe(503);
      expectErrorShape(notYet);
      expect((await call(early, 'GET', '/livez')).status).toBe(200);
      expect((await call(early, 'GET', '/v1/features')).status).toBe(200);
      const device = { v: 2, publicKey: makeX25519Key(), proofHash: hashOf('proof') };
      for (const refused of [
        await call(early, 'POST', '/v2/auth/devices', { body: device }),
        await call(early, 'POST', '/v1/auth/challenge', { body: {} }),
        await call(early, 'GET', '/v1/push-tokens', { token }),
      ]) {
        expect({ status: refused.status, code: refused.body['code'] }).toEqual({
          status: 503,
          code: 'unavailable',
        });
        expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      }
      const answers = await callEveryRoute(early, token);
      expect(answers.filter(({ status }) => status >= 500).length).toBeGreaterThan(20);
      expect(answers.filter(({ status, retryAfter }) => status >= 500 && !retryAfter)).toEqual([]);
      await postgres.restart();
      await waitFor('ready', async () => (await call(early, 'GET', '/readyz')).status === 200);
      expect((await logIn(early)).created).toBe(true);
    } finally {
      await early.kill('SIGTERM');
    }
  });

  it.each([
    ['it opens', AUTHENTICATED],
    ['its settings are made', PARSED],
  ])('keeps the server running when each connection ends as %s', async (_moment, first) => {
    let isEnding = false;
    const edit = (chunk: Buffer): Buffer =>
      isEnding && chunk[0] === first && chunk.subarray(-READY.length).equals(READY)
        ? Buffer.concat([chunk, ENDED])
        : chunk;
    const proxy = await TcpProxy.start(Number(new URL(store.databaseUrl ?? '').port), edit);
    const env = { DATABASE_URL: proxy.urlFor(store.databaseUrl ?? '') };
    const behind = await startServer({ store, env });
    try {
      const body = { v: 2, publicKey: makeX25519Key(), proofHash: hashOf('proof') };
      const begin = () => call(behind, 'POST', '/v2/auth/devices', { body });
      isEnding = true;
      proxy.cut();
      for (const answer of await Promise.all(Array.from({ length: 50 }, begin))) {
        expect({ status: answer.status, code: answer.body['code'] }).toEqual({
          status: 503,
          code: 'unavailable',
        });
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      }
      isEnding = false;
      proxy.cut();
      await waitFor('a device can ask again', async () => (await begin()).status === 200);
    } finally {
      await behind.stop();
      proxy.close();
    }
  });

  it('answers 503 when the database ends the transaction of a request as idle', async () => {
    let isEnding = false;
    const edit = (chunk: Buffer): Buffer => (isEnding ? IDLE : chunk);
    const proxy = await TcpProxy.start(Number(new URL(store.databaseUrl ?? '').port), edit);
    const env = { DATABASE_URL: proxy.urlFor(store.databaseUrl ?? '') };
    const behind = await startServer({ store, env });
    try {
      const { token } = await logIn(behind);
      const save = () => call(behind, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
      isEnding = true;
      const refused = await save();
      expect(refused.status).toBe(503);
      expectErrorShape(refused);
      isEnding = false;
      await waitFor('a connection is made', async () => (await save()).status === 200);
    } finally {
      await behind.stop();
      proxy.close();
    }
  });

  it.each([
    [
      'no role may connect',
      'ALTER DATABASE $db ALLOW_CONNECTIONS false',
      'ALTER DATABASE $db ALLOW_CONNECTIONS true',
    ],
    [
      'the role may not connect',
      'ALTER ROLE $role NOSUPERUSER; REVOKE CONNECT ON DATABASE $db FROM PUBLIC',
      'ALTER ROLE $role SUPERUSER; GRANT CONNECT ON DATABASE $db TO PUBLIC',
    ],
    [
      'the role has too many connections',
      'ALTER ROLE $role NOSUPERUSER CONNECTION LIMIT 0',
      'ALTER ROLE $role SUPERUSER CONNECTION LIMIT -1',
    ],
  ])('answers 503 and logs one line while %s', async (_reason, refuse, admit) => {
    const url = new URL(store.databaseUrl ?? '');
    const [db, role] = [url.pathname.slice(1), `gate_${randomUUID().slice(0, 8)}`];
    const run = (sql: string) =>
      runSql(postgres.url, sql.replaceAll('$db', db).replaceAll('$role', role));
    await run('CREATE ROLE $role LOGIN SUPERUSER');
    url.username = role;
    const own = await startServer({ store, env: { ...TIMEOUTS, DATABASE_URL: url.href } });
    try {
      await run(refuse);
      await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$db'");
      await waitFor('an outage', async () => (await call(own, 'GET', '/readyz')).status === 503);
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const { status } = await call(own, 'POST', '/v1/auth/challenge', { body: {} });
        expect(status).toBe(503);
      }
      await run(admit);
      await own.logged(/The database is available again/);
      expect(linesAfterStart(own)).toEqual([
        expect.stringMatching(/^error The database is not available: /),
        'info The database is available again.',
      ]);
    } finally {
      await own.stop();
    }
  });

  it('answers 503 while its role lacks a right on a table', async () => {
    const url = new URL(store.databaseUrl ?? '');
    url.username = `gate_${randomUUID().slice(0, 8)}`;
    const run = (sql: string) => runSql(store.databaseUrl, sql);
    await run(`CREATE ROLE ${url.username} LOGIN`);
    await run(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${url.username}`);
    const own = await startServer({ store, env: { DATABASE_URL: url.href } });
    try {
      await run(`REVOKE INSERT ON login_challenge FROM ${url.username}`);
      const refused = await call(own, 'POST', '/v1/auth/challenge');
      expect(refused.status).toBe(503);
      expectErrorShape(refused);
      await own.logged(/permission denied for table login_challenge/);
      await run(`GRANT INSERT ON login_challenge TO ${url.username}`);
      await logIn(own);
    } finally {
      await own.stop();
    }
  });

  it('keeps the server running when its connection is cut in the middle of a transaction', async () => {
    const { port } = new URL(store.databaseUrl ?? '');
    const proxy = await TcpProxy.start(Number(port));
    const behind = await startServer({
      store,
      env: { DATABASE_URL: proxy.urlFor(store.databaseUrl ?? '') },
    });
    const sql = new Client({ connectionString: store.databaseUrl ?? '' });
    await sql.connect();
    try {
      const { token, accountId } = await logIn(behind);
      const save = () => call(behind, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
      await sql.query('BEGIN');
      await sql.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [accountId]);
      const saving = save();
      await waitFor('the request waits for the lock', async () => {
        const { rowCount } = await sql.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rowCount === 1;
      });
      proxy.cut();
      expect((await saving).status).toBe(503);
      await sql.query('ROLLBACK');
      expect((await call(behind, 'GET', '/livez')).status).toBe(200);
      expect((await save()).status).toBe(200);
    } finally {
      await sql.end();
      await behind.kill('SIGTERM');
      proxy.close();
    }
  });
});

/** Timeouts for a database that hangs may be too short for a slow one. */
function logInInTime(server: Server): Promise<Login> {
  return waitFor('a login', () => logIn(server).catch(() => undefined));
}

const CLIENTS = 8;

/** Clients that sign up one new key after another, and record the results. */
class SignUps {
  readonly acknowledged = new Set<string>();
  /** Answers that are neither a success nor a correct 503. */
  readonly surprises: string[] = [];
  refused = 0;
  private isStopped = false;
  private readonly clients: Promise<void>[];

  constructor(private readonly server: Server) {
    this.clients = Array.from({ length: CLIENTS }, () => this.run());
  }

  async until(isDone: () => boolean): Promise<void> {
    await waitFor(() => this.surprises.join('; '), isDone);
  }

  async recover(): Promise<void> {
    const before = this.acknowledged.size;
    await this.until(() => this.acknowledged.size >= before + 50);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.clients);
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const issued = await this.post('/v1/auth/challenge', {});
      if (issued.status === 200) {
        const challenge = Buffer.from(String(issued.body['challenge']), 'base64');
        const answer = await this.post('/v1/auth', loginBody(makeDeviceKey(), challenge));
        this.judge(answer);
      } else {
        this.judge(issued);
      }
    }
  }

  private post(path: string, body: object): Promise<Answer> {
    return call(this.server, 'POST', path, { body });
  }

  private judge(answer: Answer): void {
    if (answer.status === 200) {
      this.acknowledged.add(String(answer.body['accountId']));
    } else if (answer.status === 503 && Number(answer.headers['retry-after']) > 0) {
      this.refused += 1;
    } else {
      this.surprises.push(`${answer.status} ${answer.text}`);
    }
  }
}

async function expectAllThere(server: Server, acknowledged: ReadonlySet<string>): Promise<void> {
  const rows = await runSql<{ id: string }>(server.databaseUrl, 'SELECT "id" FROM "account"');
  const stored = new Set(rows.map(({ id }) => id));
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
}

/** Calls each documented route once, with ids and bodies that name nothing. */
async function callEveryRoute(server: Server, token: string) {
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => [method.toUpperCase(), path] as const),
  );
  return Promise.all(
    routes.map(async ([method, template]) => {
      const path = template.replaceAll(/\{\w+\}/g, randomUUID());
      const body = method === 'GET' ? {} : { body: {} };
      const { status, headers } = await call(server, method, path, { token, ...body });
      return { method, template, status, retryAfter: headers['retry-after'] };
    }),
  );
}

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const body = Object.entries(fields).map(([type, text]) => `${type}${text}\0`);
  const content = Buffer.from(`${body.join('')}\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}
