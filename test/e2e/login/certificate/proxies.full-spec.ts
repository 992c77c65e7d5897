import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { answerTo } from '../../../helpers/local-server.js';
import {
  certificateDirectory,
  selfSigned,
  TestAuthority,
} from '../../../fixtures/certificates-fixture.js';
import { createCliUser } from '../../../fixtures/programs/cli-fixture.js';
import type { Json } from '../../../helpers/client.js';
import {
  canConnect,
  PROXY_PROGRAMS,
  SHIPPED_PROXIES,
  type ProxyProgram,
} from '../../../fixtures/programs/proxy-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import {
  freePort,
  startService,
  type Service,
} from '../../../fixtures/programs/service-process.js';
import {
  FORWARDED,
  mtlsEnv,
  spellingsOf,
  type RawHeaders,
} from '../../../fixtures/certificate-login-fixture.js';

const HOST = 'gate.example.org';

interface Proxy extends ProxyProgram {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** The proxy is not a package of Debian, and is tested where it is installed. */
  readonly isOptional?: true;
  /** Installs the shipped file as its comment describes. Default: it is the whole configuration. */
  readonly install?: (shipped: string, home: string, port: number) => void;
}

const CUSTOM = { FORWARDED_PRESET: 'custom', CUSTOM_CERTIFICATE_HEADER: 'X-Client-Cert' };

/** Copies the configuration of Debian to a folder, with the shipped file as one of its sites. */
function installApache(shipped: string, home: string, port: number): void {
  const etc = join(home, 'apache2');
  cpSync('/etc/apache2', etc, { recursive: true, verbatimSymlinks: true });
  // Port 80 may be in use, and no test needs it.
  const listens = readFileSync(join(etc, 'ports.conf'), 'utf8');
  writeFileSync(
    join(etc, 'ports.conf'),
    listens.replace(/^Listen 80$/m, '').replace(/\b443\b/g, String(port)),
  );
  rmSync(join(etc, 'sites-enabled/000-default.conf'), { force: true });
  writeFileSync(join(etc, 'sites-enabled/gatehouse.conf'), shipped);
  const [, modules = ''] = /^#\s+a2enmod ([\w ]+)/m.exec(shipped) ?? [];
  execFileSync('/usr/sbin/a2enmod', modules.trim().split(' '), {
    env: { PATH: '/usr/sbin:/usr/bin:/bin', APACHE_CONFDIR: etc },
  });
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    ...PROXY_PROGRAMS.nginx,
    file: 'nginx.conf',
    env: { FORWARDED_PRESET: 'ingress-nginx' },
  },
  haproxy: {
    ...PROXY_PROGRAMS.haproxy,
    file: 'haproxy.cfg',
    env: { FORWARDED_PRESET: 'haproxy' },
  },
  apache: {
    binary: '/usr/sbin/apache2',
    debian: 'apache2',
    file: 'apache.conf',
    env: {
      ...CUSTOM,
      CUSTOM_DECODER: 'pem-spaces',
      CUSTOM_VERIFY_HEADER: 'X-Client-Cert-Verify',
    },
    args: (_config, home) => [
      ...['APACHE_RUN_USER=nobody', 'APACHE_RUN_GROUP=nogroup', `APACHE_PID_FILE=${home}/pid`],
      ...['RUN_DIR', 'LOCK_DIR', 'LOG_DIR'].map((name) => `APACHE_${name}=${home}`),
      ...['/usr/sbin/apache2', '-DFOREGROUND', '-d', join(home, 'apache2')],
      ...['-f', 'apache2.conf', '-c', `ServerName ${HOST}`],
    ],
    install: installApache,
  },
  caddy: {
    ...PROXY_PROGRAMS.caddy,
    file: 'Caddyfile',
    env: { ...CUSTOM, CUSTOM_DECODER: 'base64-der' },
  },
  envoy: {
    binary: '/usr/bin/envoy',
    debian: 'envoy',
    file: 'envoy.yaml',
    env: { FORWARDED_PRESET: 'envoy' },
    args: (config) => ['--config-path', config],
    isOptional: true,
  },
};

const directory = certificateDirectory();
const root = TestAuthority.root(directory, 'Acme Root');
const issuing = root.intermediate('Acme Issuing CA');
const host = root.issue({ subject: `/CN=${HOST}`, names: [`DNS:${HOST}`], usage: 'serverAuth' });
const subject = '/O=Acme, s.r.o./CN=Jiří "Novák"; admin,CN=root';
const alice = root.issue({ subject, names: ['email:alice@corp.example'] });
const mallory = root.issue({ names: ['email:mallory@corp.example'] });
const stranger = selfSigned(directory, 'stranger', 'email:alice@corp.example');

const tried = Object.entries(PROXIES).filter(
  ([, { binary, isOptional }]) => isOptional !== true || existsSync(binary),
);
const missing = tried.map(([, proxy]) => proxy).filter(({ binary }) => !existsSync(binary));
if (missing.length > 0 && process.env['CI'] !== 'true') {
  const packages = missing.map(({ debian }) => debian).join(' ');
  console.warn(`NOT RUN: tests behind real proxies. On Debian: apt-get install ${packages}`);
}

for (const [name, proxy] of tried) {
  const isRun = existsSync(proxy.binary) || process.env['CI'] === 'true';
  (isRun ? describe : describe.skip)(`behind ${name}`, () => {
    let server: Server;
    let running: Service;
    let ports: { readonly open: number; readonly certificates: number };

    beforeAll(async () => {
      const env = mtlsEnv({ ...proxy.env, TRUSTED_PROXIES: '127.0.0.1' });
      server = await startServer({ env });
      ports = { open: await freePort(), certificates: await freePort() };
      running = await startProxy(proxy, ports, server.port);
    });
    afterAll(async () => {
      await running.stop();
      await server.stop();
    });

    const send = (headers: RawHeaders, own?: typeof alice, port = ports.certificates) =>
      call(port, headers, own);

    it('logs in a person by the names in the certificate', async () => {
      const first = await send([], alice);
      expect(first).toMatchObject({ status: 200, body: { created: true } });
      const again = await send([], alice);
      expect(again.body['accountId']).toBe(first.body['accountId']);
      const others = await send([], mallory);
      expect(others.body['accountId']).not.toBe(first.body['accountId']);
    });

    it('refuses a login without a certificate, or with one that names no person', async () => {
      expect(await send([])).toMatchObject({ status: 401, body: { code: 'mtls-required' } });
      expect(await send([], undefined, ports.open)).toMatchObject({ status: 401 });
      const refused = await send([], stranger).catch(() => ({ status: 'refused', body: {} }));
      expect(refused.status).not.toBe(200);
      expect(refused.body).not.toHaveProperty('token');
    });

    it('refuses forged certificate headers at both hosts', async () => {
      const alices = (await send([], alice)).body['accountId'];
      for (const headersOf of Object.values(FORWARDED)) {
        const headers: RawHeaders = [
          ...headersOf(alice, issuing),
          ['X-Client-Cert', alice.der.toString('base64')],
          ['X-Client-Cert-Verify', 'SUCCESS'],
        ];
        for (let spelling = 0; spelling < 12; spelling += 1) {
          const forged = headers.map(
            ([header, value]) => [spellingsOf(header)[spelling] ?? '', value] as const,
          );
          for (const port of Object.values(ports)) {
            const answer = await send(forged, undefined, port);
            const outcome = { forged: forged[0]?.[0], port, status: answer.status };
            expect([400, 401].map((status) => ({ ...outcome, status }))).toContainEqual(outcome);
            expect(answer.body).not.toHaveProperty('token');
          }
          const own = await send(forged, mallory);
          expect(own.body['accountId']).not.toBe(alices);
        }
      }
    });

    it('keeps the identity of the certificate whatever the client lists in its Connection header', async () => {
      const [alices, mallorys] = [await send([], alice), await send([], mallory)];
      for (const headersOf of Object.values(FORWARDED)) {
        const headers: RawHeaders = [
          ...headersOf(alice, issuing),
          ['X-Client-Cert', alice.der.toString('base64')],
          ['X-Client-Cert-Verify', 'SUCCESS'],
        ];
        const listed = [
          'Connection',
          ['close', ...headers.map(([name]) => name)].join(', '),
        ] as const;
        for (const forged of [[listed], [listed, ...headers]]) {
          const { status, body } = await send(forged, mallory);
          const ids = [mallorys.body['accountId'], undefined];
          expect({ listed, status, isOwn: ids.includes(body['accountId']) }).toMatchObject({
            isOwn: true,
          });
          expect(body['accountId']).not.toBe(alices.body['accountId']);
          for (const port of Object.values(ports)) {
            expect((await send(forged, undefined, port)).body).not.toHaveProperty('token');
          }
        }
      }
    });

    it('passes gatehouse doctor mtls', async () => {
      const user = await createCliUser();
      for (const port of Object.values(ports)) {
        const url = `https://${HOST}:${port}`;
        const { code, stdout, stderr } = await user.run(
          ['doctor', 'mtls', '--public-url', url, '--connect-to', '127.0.0.1', '--json'],
          { NODE_EXTRA_CA_CERTS: root.certPath },
        );
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(JSON.parse(stdout)).toMatchObject({ ok: true });
      }
    });
  });
}

async function startProxy(
  proxy: Proxy,
  ports: { readonly open: number; readonly certificates: number },
  upstream: number,
): Promise<Service> {
  const home = join(directory, proxy.debian);
  mkdirSync(join(home, 'tls'), { recursive: true });
  const files = {
    'tls.crt': host.cert,
    'tls.key': host.key,
    'tls.pem': host.cert + host.key,
    'client-ca.pem': root.cert,
  };
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(home, 'tls', file), text);
  }
  const shipped = readFileSync(join(SHIPPED_PROXIES, proxy.file), 'utf8')
    .replaceAll('/etc/gatehouse/tls', join(home, 'tls'))
    .replaceAll('gatehouse:3000', `127.0.0.1:${upstream}`)
    .replace('address: gatehouse, port_value: 3000', `address: 127.0.0.1, port_value: ${upstream}`)
    .replace(/\b8443\b/g, String(ports.certificates))
    .replace(/\b443\b/g, String(ports.open));
  const config = join(home, proxy.file);
  writeFileSync(config, shipped);
  proxy.install?.(shipped, home, ports.open);
  return startService({
    file: proxy.install === undefined ? proxy.binary : '/usr/bin/env',
    args: proxy.args(config, home),
    url: `https://127.0.0.1:${ports.certificates}`,
    home,
    stopSignal: 'SIGTERM',
    probe: () => canConnect(ports.certificates),
  });
}

async function call(
  port: number,
  headers: RawHeaders,
  own?: { readonly cert: string; readonly key: string },
): Promise<{ readonly status: number | undefined; readonly body: Json }> {
  const sent = request({
    host: '127.0.0.1',
    port,
    servername: HOST,
    ca: root.cert,
    ...(own && { cert: own.cert, key: own.key }),
    method: 'POST',
    path: '/v1/auth/mtls',
    headers: { host: `${HOST}:${port}`, ...Object.fromEntries(headers) },
    agent: false,
  });
  const { status, answer, text } = await answerTo(sent);
  const isJson = String(answer.headers['content-type']).includes('json');
  return { status, body: isJson ? (JSON.parse(text) as Json) : {} };
}
