import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { resolveSettings } from '../../src/server/config/resolve-settings.js';
import { certificateDirectory, selfSigned } from '../fixtures/certificates-fixture.js';
import { startLocalServer, type LocalTls } from '../helpers/local-server.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Project {
  readonly engines: { readonly node: string };
}

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Readonly<Record<string, string>>;
        readonly restart?: string;
        readonly volumes?: readonly string[];
        readonly ports?: readonly string[];
      }
    >
  >;
}

describe('the Dockerfile', () => {
  it('passes the linter', async () => {
    const linter = join(ROOT, 'test/node_modules/dockerfile-utils/bin/dockerfile-utils');
    const { stdout } = await run(process.execPath, [linter, 'lint', 'docker/Dockerfile'], {
      cwd: ROOT,
    });
    expect(stdout).not.toMatch(/Line/);
  });

  it('runs as an unprivileged user, with every command as an argument', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    expect(text).toMatch(/^USER 10001:10001$/m);
    expect(text).toMatch(/^ENTRYPOINT \["node", "dist\/bin\/gatehouse\.js"\]$/m);
    expect(text).toMatch(/^CMD \["serve"\]$/m);
    expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m);
  });

  it('starts from an exact version of Node, and from a digest where one is given', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    expect(text).toMatch(/^ARG NODE_VERSION=\d+\.\d+\.\d+$/m);
    expect(text).toMatch(/^ARG NODE_TAG=\$\{NODE_VERSION\}-trixie-slim$/m);
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(['node:${NODE_TAG}${NODE_DIGEST:+@${NODE_DIGEST}}']));
  });

  it('builds with the revision that the release workflow passes', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    expect(text).toMatch(
      /^ARG REVISION=unknown\nRUN GATEHOUSE_REVISION="\$\{REVISION\}" npm run build:programs/m,
    );
    const workflow = await readFile(join(ROOT, '.github/workflows/release.yml'), 'utf8');
    expect(workflow).toContain('REVISION=${{ github.sha }}');
  });

  it('starts from a version that the workflow tests with every supported one', async () => {
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    const [, version = ''] = /^ARG NODE_VERSION=(.+)$/m.exec(text) ?? [];
    const workflow = parse(await readFile(join(ROOT, '.github/workflows/ci.yml'), 'utf8')) as {
      readonly jobs: {
        readonly test: {
          readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
          readonly container: { readonly image: string };
        };
      };
    };
    const { strategy, container } = workflow.jobs.test;
    const tested = strategy.matrix.node;
    expect(tested).toContain(version);
    const { engines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Project;
    const supported = engines.node.match(/\d+(?=\.\d+\.)/g);
    expect(tested.map((one) => one.split('.')[0])).toEqual(supported);
    expect(container.image).toBe('node:${{ matrix.node }}-bookworm');
  });
});

async function composeOf(...files: readonly string[]): Promise<Compose['services']> {
  const parts = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(ROOT, 'docker', file), 'utf8');
      return (parse(text, { merge: true }) as Compose).services;
    }),
  );
  return parts.reduce((services, changes) => {
    const changed = Object.entries(changes).map(([name, change]) => {
      const environment = { ...services[name]?.environment, ...change.environment };
      return [name, { ...services[name], ...change, environment }];
    });
    return { ...services, ...(Object.fromEntries(changed) as Compose['services']) };
  });
}

function settingsOf({ environment }: Compose['services'][string] = {}) {
  const { settings, findings } = resolveSettings({
    ...environment,
    SERVICE_MASTER_SECRET: 'a-master-secret-for-this-test-only-0123456789',
  });
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  return settings;
}

describe('compose.yaml', () => {
  it('has a configuration that the server starts with, and both addresses of nginx', async () => {
    const { mtls, auth } = settingsOf((await composeOf('compose.yaml'))['gatehouse']);
    expect(mtls).toMatchObject({ enabled: true, publicUrl: 'https://localhost:8443' });
    expect(auth.loginOrigins).toEqual(['https://localhost:8444', 'https://localhost:8443']);
  });

  it('starts every service again after a failure', async () => {
    const services = Object.entries(await composeOf('compose.yaml'));
    expect(services.map(([name, { restart }]) => [name, restart])).toEqual([
      ['postgres', 'unless-stopped'],
      ['redis', 'unless-stopped'],
      // It ends when the schema is up to date.
      ['migrate', 'on-failure'],
      ['gatehouse', 'unless-stopped'],
      ['nginx', 'unless-stopped'],
    ]);
  });

  it('ends TLS in the server with compose.tls.yaml', async () => {
    const { gatehouse } = await composeOf('compose.yaml', 'compose.tls.yaml');
    const { http, mtls } = settingsOf(gatehouse);
    expect(http).toMatchObject({
      tls: { certPath: '/etc/gatehouse/tls/tls.crt', keyPath: '/etc/gatehouse/tls/tls.key' },
      trustedProxies: [],
    });
    expect(mtls.enabled).toBe(false);
    expect(gatehouse?.volumes).toEqual(['./certificates:/etc/gatehouse/tls:ro']);
    expect(gatehouse?.ports).toEqual([`127.0.0.1:8444:${http.port}`]);
  });
});

describe('the health check of the image', () => {
  const directory = certificateDirectory();
  const host = selfSigned(directory, 'gate', 'DNS:gate.example');

  const answering = async (status: number, tls?: LocalTls): Promise<number> => {
    const server = await startLocalServer(({ url }) => {
      return { status: url.pathname === '/livez' ? status : 404 };
    }, tls);
    const env = {
      PORT: new URL(server.url).port,
      ...(tls && { SERVICE_TLS_CERT_PATH: host.certPath }),
    };
    const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    const [, line = ''] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(text) ?? [];
    const [, ...args] = JSON.parse(line) as string[];
    try {
      await run(process.execPath, args, { env });
      return 0;
    } catch (error) {
      return Number((error as { code: unknown }).code);
    } finally {
      await server.close();
    }
  };

  it('passes while the server answers, over HTTP or HTTPS', async () => {
    const tls = { name: '127.0.0.1', cert: host.cert, key: host.key };
    expect([await answering(200), await answering(200, tls)]).toEqual([0, 0]);
    expect([await answering(500), await answering(500, tls)]).toEqual([1, 1]);
  });
});

it('installs and contains nothing that reports installations', async () => {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const scarf = Object.entries(lock.packages).filter(([name]) => name.endsWith('@scarf/scarf'));
  expect(scarf.map(([, { resolved, hasInstallScript }]) => [resolved, hasInstallScript])).toEqual([
    ['file:tools/packages/no-scarf', undefined],
  ]);
  const text = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
  expect(text).toMatch(/^COPY tools\/packages\/no-scarf .*\nRUN npm ci --ignore-scripts/m);
  expect(text).toMatch(/rm -rf .*node_modules\/@scarf/);
});

it('issues a certificate of the client authority with make-dev-certificates.sh', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-certificates-'));
  await run(join(ROOT, 'docker/make-dev-certificates.sh'), [directory]);
  const certificate = async (name: string) =>
    new X509Certificate(await readFile(join(directory, name)));
  const person = await certificate('client.crt');
  const authority = await certificate('client-ca.pem');
  expect(person.verify(authority.publicKey)).toBe(true);
  expect(person.subjectAltName).toContain('email:jiri@acme.example');
  expect((await certificate('tls.crt')).verify(authority.publicKey)).toBe(false);
});
