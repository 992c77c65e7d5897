import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRevision, readVersion } from '../../../src/common/version.js';
import { call } from '../../helpers/client.js';
import { TestAuthority } from '../../fixtures/certificates-fixture.js';
import { PROGRAMS } from '../../fixtures/programs-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createEmbeddedStore } from '../../fixtures/programs/store-fixture.js';

const SOURCE = join(import.meta.dirname, '../../../src');
const TOKEN = 'a-metrics-token-of-the-spec';
/** Another address of this machine: a socket on 127.0.0.1 does not accept what arrives there. */
const OTHER_ADDRESS = '127.0.0.2';

let server: Server | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

interface Statuses {
  /** A null means that the connection was refused. */
  readonly loopback: number | null;
  readonly elsewhere: number | null;
}

async function statusesOf(
  env: Readonly<Record<string, string>>,
  token?: string,
): Promise<Statuses> {
  server = await startServer({ env: { HOST: '0.0.0.0', METRICS_PORT: '0', ...env } });
  const [, port] = await server.logged(/Metrics on port (\d+)/);
  const statusAt = (host: string): Promise<number | null> =>
    call({ url: `http://${host}:${port}` }, 'GET', '/metrics', token === undefined ? {} : { token })
      .then(({ status }) => status)
      .catch((error: NodeJS.ErrnoException) => {
        expect(error.code).toBe('ECONNREFUSED');
        return null;
      });
  return { loopback: await statusAt('127.0.0.1'), elsewhere: await statusAt(OTHER_ADDRESS) };
}

/** Returns true if promtool is installed. In CI its absence is an error. */
function hasPromtool(): boolean {
  const isThere = spawnSync('promtool', ['--version']).status === 0;
  if (!isThere && process.env['CI'] === 'true') {
    throw new Error('This test needs promtool. On Debian: apt-get install prometheus');
  }
  return isThere;
}

/** A provider that reports leavers. The server starts while nothing of it can be reached. */
function directoryIn(folder: string): Record<string, string> {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'a-token-of-the-directory-of-the-spec');
  const client = { clientId: 'gatehouse', clientSecret: 'a-secret-of-the-client' };
  const provider = { id: 'corp', type: 'oidc', issuer: 'https://127.0.0.1:1', ...client };
  const sharedSignals = {
    transmitter: 'https://127.0.0.1:1',
    audience: 'https://gate.example.com',
  };
  const signals = { scim: { tokenFile }, sharedSignals };
  return { AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([{ ...provider, signals }]) };
}

async function metricsOfTheSource(): Promise<string[]> {
  const names = new Set<string>();
  const files = await readdir(SOURCE, { recursive: true });
  for (const file of files.filter((name) => /(?<!spec)\.ts$/.test(name))) {
    const text = await readFile(join(SOURCE, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/'(gatehouse_[a-z_]+[a-z])'/g)) {
      names.add(name);
    }
  }
  expect(names.size).toBeGreaterThan(10);
  return [...names];
}

describe('METRICS_PORT', () => {
  it('listens on loopback only when there is no token', async () => {
    expect(await statusesOf({})).toEqual({ loopback: 200, elsewhere: null });
    expect(server?.logs()).not.toContain('METRICS_HOST');
  });

  it('reports every metric of the source and the process, in the form that promtool accepts', async () => {
    const embedded = await createEmbeddedStore();
    const setup = backends([{ id: 'relay', programs: PROGRAMS }]);
    const offboarding = { AUTH_OFFBOARDING_ENABLED: 'true' };
    const store = { ...embedded, env: { ...embedded.env, ...offboarding, ...setup.env } };
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-spec-'));
    const end = Math.floor(Date.now() / 1000) + 10 * 86_400;
    const until = `${new Date(end * 1000).toISOString().replace(/[-:T]|\..*/g, '')}Z`;
    const near = TestAuthority.root(folder, 'Root').issue({ subject: '/CN=proxy.example', until });
    const env = {
      ...{ ...setup.env, ...directoryIn(folder), METRICS_PORT: '0' },
      SERVICE_CA_BUNDLE: near.certPath,
    };
    server = await startServer({ store, env });
    const [, port] = await server.logged(/Metrics on port (\d+)/);
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const names = [...page.matchAll(/^# TYPE (\w+)/gm)].map((match) => match[1] ?? '');
    const missing = (await metricsOfTheSource()).filter((name) => !names.includes(name));
    expect(missing).toEqual([]);
    if (hasPromtool()) {
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: page });
      expect(`${checked.stdout.toString()}${checked.stderr.toString()}`).toBe('');
      expect(checked.status).toBe(0);
    }
    expect(names.filter((name) => !name.startsWith('gatehouse_'))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining([
        'gatehouse_process_cpu_seconds_total',
        'gatehouse_process_resident_memory_bytes',
        'gatehouse_nodejs_eventloop_lag_p99_seconds',
        'gatehouse_nodejs_gc_duration_seconds',
      ]),
    );
    expect(page).toContain(
      `gatehouse_build_info{version="${readVersion()}",revision="${readRevision()}",` +
        `node_version="${process.version}"} 1\n`,
    );
    const labels = 'kind="authority",variable="SERVICE_CA_BUNDLE",name="proxy.example"';
    const name = 'gatehouse_certificate_expiry_timestamp_seconds';
    expect(page).toContain(`${name}{${labels}} ${end}\n`);
    await server.logged(/"level":"warn".*proxy\.example.*expires on/);
    await server.stop();
    await embedded.drop();
  });

  it('listens on METRICS_HOST, and warns when that is open to all', async () => {
    expect(await statusesOf({ METRICS_HOST: '0.0.0.0' })).toEqual({
      loopback: 200,
      elsewhere: 200,
    });
    await server?.logged(/there is no METRICS_TOKEN/);
  });

  it('listens on HOST when there is a token, and requires it', async () => {
    const env = { METRICS_TOKEN: TOKEN };
    expect(await statusesOf(env)).toEqual({ loopback: 401, elsewhere: 401 });
    await server?.stop();
    expect(await statusesOf(env, TOKEN)).toEqual({ loopback: 200, elsewhere: 200 });
  });
});
