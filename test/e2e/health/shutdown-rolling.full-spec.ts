import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectUpdates,
  type UpdateConnection,
} from '../../../src/packages/client/updates/connect-updates.js';
import { call, logIn, type Login } from '../../helpers/client.js';
import { OWN_PROCESS, type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { type Service, startRedis } from '../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { childrenOf, freePort, startService } from '../../fixtures/programs/service-process.js';

const NGINX = '/usr/sbin/nginx';

/** Returns true if nginx is installed. In CI its absence is an error. */
function hasNginx(): boolean {
  if (existsSync(NGINX)) {
    return true;
  }
  if (process.env['CI'] === 'true') {
    throw new Error('These tests need nginx. On Debian: apt-get install nginx');
  }
  process.stderr.write('NOT RUN: tests behind nginx. On Debian: apt-get install nginx\n');
  return false;
}

/** An nginx that spreads requests and live connections over some ports of 127.0.0.1. */
interface Balancer extends Service {
  /** Sends new requests to these ports once it resolves. Open requests continue. */
  balance(ports: readonly number[]): Promise<void>;
}

async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const file = join(home, 'nginx.conf');
  const port = await freePort();
  writeFileSync(file, configuration(home, port, ports));
  const service = await startService({
    file: NGINX,
    args: ['-p', home, '-c', file, '-e', join(home, 'error.log')],
    url: `http://127.0.0.1:${port}`,
    home,
    stopSignal: 'SIGTERM',
    probe: () => reach(port),
  });
  const balance = async (next: readonly number[]): Promise<void> => {
    const workers = childrenOf(service.pid);
    writeFileSync(file, configuration(home, port, next));
    await service.kill('SIGHUP');
    await waitFor('those with the former ports take no more', () =>
      workers.every((pid) => !isServing(pid)),
    );
  };
  return Object.assign(service, { balance });
}

function configuration(home: string, port: number, ports: readonly number[]): string {
  return `
daemon off;
worker_processes 1;
pid ${home}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n  ')}
  map $http_upgrade $connection_header { default upgrade; '' ''; }
  upstream gatehouse {
    ${ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://gatehouse;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_header;
      proxy_read_timeout 120s;
    }
  }
}
`;
}

/** A worker that only finishes open requests has another title. */
function isServing(pid: number): boolean {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return title !== '' && !title.includes('shutting down');
  } catch {
    return false; // it ended
  }
}

function reach(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done();
    });
    socket.on('error', fail);
  });
}

const CONNECTIONS = Number(process.env['GATEHOUSE_TEST_SOCKETS'] ?? '300');
const ACCOUNTS = 30;
const REPLICAS = 3;

interface Watcher {
  readonly accountId: string;
  readonly connection: UpdateConnection;
  lost: number;
  back: number;
  /** The reason of each lost connection. */
  readonly reasons: (string | undefined)[];
}

interface Traffic {
  sent: number;
  /** Answers other than 200, and requests without one. */
  readonly failures: string[];
}

let redis: Service;
let store: Store;
let balancer: Balancer;
let servers: Server[] = [];
let watchers: Watcher[] = [];

const behindNginx = hasNginx() ? describe : describe.skip;

function watch({ token, accountId }: Login): Promise<Watcher> {
  return new Promise((done) => {
    const reasons: (string | undefined)[] = [];
    let isConnected = false;
    const connection = connectUpdates(
      { serverUrl: balancer.url, token, transports: ['websocket'] },
      {
        onConnected: () => {
          watcher.back += Number(!isConnected && watcher.lost > 0);
          isConnected = true;
          done(watcher);
        },
        onWaiting: (problem) => {
          // Further attempts to reconnect fail for other reasons, which do not count.
          if (isConnected) {
            watcher.lost += 1;
            reasons.push(problem?.code);
          }
          isConnected = false;
        },
      },
    );
    const watcher: Watcher = { accountId, connection, lost: 0, back: 0, reasons };
  });
}

/** Uses a new connection: nginx closes idle ones on a reload. */
function send(method: string, token: string, body?: object): Promise<number> {
  return new Promise((done, fail) => {
    const sent = request(`${balancer.url}/v1/push-tokens`, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    sent.on('response', (answer) => answer.resume().on('end', () => done(answer.statusCode ?? 0)));
    sent.on('error', fail);
    sent.end(body && JSON.stringify(body));
  });
}

async function load(logins: readonly Login[], traffic: Traffic, signal: AbortSignal) {
  for (let turn = 0; !signal.aborted; turn += 1) {
    const { token } = logins[turn % logins.length] as Login;
    const outcome = await (
      turn % 3 === 0 ? send('POST', token, { token: `t${turn % 50}` }) : send('GET', token)
    ).catch((error: Error) => error.message);
    traffic.sent += 1;
    if (outcome !== 200) {
      traffic.failures.push(`${turn % 3 === 0 ? 'POST' : 'GET'} ${outcome}`);
    }
  }
}

/** The balancer skips a replica that is not ready, before that stops listening. */
async function replace(index: number): Promise<void> {
  const old = servers[index] as Server;
  const ports = servers.map(({ port }) => port);
  const ended = old.kill('SIGTERM');
  await waitFor('it is not ready', async () => (await call(old, 'GET', '/readyz')).status === 503);
  await balancer.balance(ports.filter((port) => port !== old.port));
  expect(await ended).toEqual({ code: 0, signal: null });
  servers[index] = await old.restart();
  await balancer.balance(ports);
}

behindNginx(`a rolling restart of ${REPLICAS} replicas behind nginx, under load`, () => {
  beforeAll(async () => {
    [redis, store] = await Promise.all([startRedis(), createStore()]);
    const env = { REDIS_URL: redis.url, SERVICE_SHUTDOWN_SPREAD_SECONDS: '3' };
    servers = await Promise.all(
      Array.from({ length: REPLICAS }, () => startServer({ store, env, host: OWN_PROCESS })),
    );
    balancer = await startBalancer(servers.map(({ port }) => port));
  });

  afterAll(async () => {
    watchers.forEach(({ connection }) => connection.close());
    await Promise.all([...servers.map((server) => server.stop()), balancer?.stop()]);
    await Promise.all([redis.stop(), store.drop()]);
  });

  it(`fails no request and loses none of ${CONNECTIONS} connections, nor an update`, async () => {
    const logins = await Promise.all(
      Array.from({ length: ACCOUNTS }, () => logIn(servers[0] as Server)),
    );
    const held = Array.from({ length: CONNECTIONS }, (_value, index) => logins[index % ACCOUNTS]);
    watchers = await Promise.all(held.map((login) => watch(login as Login)));

    const traffic: Traffic = { sent: 0, failures: [] };
    const stopping = new AbortController();
    const loads = Array.from({ length: 3 }, () => load(logins, traffic, stopping.signal));
    for (let index = 0; index < REPLICAS; index += 1) {
      const { sent } = traffic;
      await replace(index);
      await waitFor('more requests', () => traffic.sent >= sent + 70);
    }
    await waitFor('every client is back', () => watchers.every(({ lost, back }) => lost === back));
    stopping.abort();
    await Promise.all(loads);

    expect(traffic.failures).toEqual([]);
    const losses = watchers.reduce((sum, { lost }) => sum + lost, 0);
    expect(losses).toBeGreaterThanOrEqual(CONNECTIONS);
    expect(new Set(watchers.flatMap(({ reasons }) => reasons))).toEqual(new Set(['unavailable']));
    await expectNothingMissed(logins);
  });
});

/** Every client has received every update of its account, or a gap for it. */
async function expectNothingMissed(logins: readonly Login[]): Promise<void> {
  const positions = new Map<string, number>();
  for (const login of logins) {
    const own = watchers.find(({ accountId }) => accountId === login.accountId) as Watcher;
    const before = own.connection.position ?? 0;
    expect(await send('POST', login.token, { token: 'last' })).toBe(200);
    positions.set(login.accountId, before);
  }
  await waitFor('every client knows of the last update', () =>
    watchers.every(({ accountId, connection }) => {
      const all = watchers.filter((other) => other.accountId === accountId);
      const furthest = Math.max(...all.map((other) => other.connection.position ?? 0));
      const isLater = furthest > (positions.get(accountId) ?? 0);
      return isLater && connection.position === furthest;
    }),
  );
}
