import { createCliUser, type CliUser } from '../helpers/cli.js';
import { startServer, type Server } from '../helpers/server.js';
import { createLane } from '../helpers/server-lane.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { mtlsEnv } from './mtls-world.js';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly spelling: string;
    readonly headers: readonly string[];
    readonly verdict: string;
    readonly code: string | null;
  }[];
}

/** A server that takes the doctor itself for the proxy: one that takes nothing away. */
const believing = (env: Readonly<Record<string, string>>): Record<string, string> =>
  mtlsEnv({ TRUSTED_PROXIES: '127.0.0.1', ...env });

const host = createLane();
let user: CliUser;
let store: Store;
beforeAll(async () => {
  [user, store] = await Promise.all([createCliUser(), createStore()]);
});
afterAll(async () => {
  await host.end();
  await Promise.all([user.remove(), store.drop()]);
});

async function examine(env: Readonly<Record<string, string>>) {
  const server: Server = await startServer({ host, store, env });
  try {
    const args = ['doctor', 'mtls', '--public-url', server.url, '--json'];
    const { code, stdout, stderr } = await user.run(args);
    const report = stdout === '' ? null : (JSON.parse(stdout) as Report);
    return { code, stderr, report, logs: server.logs() };
  } finally {
    await server.stop();
  }
}

describe('gatehouse doctor mtls', () => {
  it.each([
    ['plain', 'x-service-client-cert-email', {}],
    ['ingress-nginx', 'ssl-client-cert', {}],
    ['envoy', 'x-forwarded-client-cert', {}],
    ['traefik', 'x-forwarded-tls-client-cert', {}],
    ['haproxy', 'x-ssl-client-cert', {}],
    ['aws-alb-verify', 'x-amzn-mtls-clientcert-leaf', {}],
    ['rfc9440', 'client-cert', {}],
    [
      'custom',
      'x-client-cert',
      { CUSTOM_CERTIFICATE_HEADER: 'x-client-cert', CUSTOM_DECODER: 'pem-spaces' },
    ],
    [
      'custom',
      'x-client-cert',
      { CUSTOM_CERTIFICATE_HEADER: 'x-client-cert', CUSTOM_DECODER: 'base64-der' },
    ],
  ])('fails where the headers of %s come through', async (preset, header, more) => {
    const { code, report, logs } = await examine(believing({ FORWARDED_PRESET: preset, ...more }));
    expect(code).toBe(1);
    const failed = report?.findings.filter(({ verdict }) => verdict === 'fail') ?? [];
    expect(failed.map(({ spelling }) => spelling)).toEqual([
      'lower case',
      'upper case',
      'title case',
      'mixed case',
    ]);
    expect(failed.every(({ headers }) => headers.join(' ').toLowerCase().includes(header))).toBe(
      true,
    );
    expect(failed.every((finding) => finding.code === 'not-eligible')).toBe(true);
    expect(logs).not.toContain('signed-up');
  });

  it('passes where no proxy is trusted', async () => {
    const { code, report, stderr } = await examine(mtlsEnv());
    expect({ code, stderr, isOk: report?.ok }).toEqual({ code: 0, stderr: '', isOk: true });
    expect(new Set(report?.findings.map(({ spelling }) => spelling)).size).toBe(13);
  });

  it('does not pass a server that would refuse any certificate', async () => {
    const { code, stderr } = await examine({});
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'inconclusive' } });
  });

  it('reports an unreachable address, and an invalid one', async () => {
    const unreachable = ['doctor', 'mtls', '--public-url', 'http://127.0.0.1:9'];
    expect((await user.run(unreachable)).code).toBe(4);
    const none = ['doctor', 'mtls', '--public-url', 'gate.example.org'];
    expect((await user.run(none)).code).toBe(2);
    expect((await user.run(['doctor', 'mtls'])).code).toBe(2);
  });
});
