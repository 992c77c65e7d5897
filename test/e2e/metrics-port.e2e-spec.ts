import { readVersion } from '../../src/common/version.js';
import { call } from '../helpers/client.js';
import { startServer, type Server } from '../helpers/server.js';

const TOKEN = 'a-metrics-token-of-the-spec';
/** Another address of this machine: a socket on 127.0.0.1 does not accept what arrives there. */
const OTHER_ADDRESS = '127.0.0.2';

let server: Server | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

interface Statuses {
  /** null = the connection was refused. */
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

describe('METRICS_PORT', () => {
  it('listens on loopback only when there is no token', async () => {
    expect(await statusesOf({})).toEqual({ loopback: 200, elsewhere: null });
    expect(server?.logs()).not.toContain('METRICS_HOST');
  });

  it('reports every metric under the name of the program, with those of the process', async () => {
    server = await startServer({ env: { METRICS_PORT: '0' } });
    const [, port] = await server.logged(/Metrics on port (\d+)/);
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const names = [...page.matchAll(/^# TYPE (\w+)/gm)].map((match) => match[1] ?? '');
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
      `gatehouse_build_info{version="${readVersion()}",node_version="${process.version}"} 1\n`,
    );
  });

  it('listens where METRICS_HOST says, and a warning is logged when that is open to all', async () => {
    expect(await statusesOf({ METRICS_HOST: '0.0.0.0' })).toEqual({
      loopback: 200,
      elsewhere: 200,
    });
    await server?.logged(/there is no METRICS_TOKEN/);
  });

  it('listens on HOST when there is a token, and asks for it', async () => {
    const env = { METRICS_TOKEN: TOKEN };
    expect(await statusesOf(env)).toEqual({ loopback: 401, elsewhere: 401 });
    await server?.stop();
    expect(await statusesOf(env, TOKEN)).toEqual({ loopback: 200, elsewhere: 200 });
  });
});
