import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import {
  callbackOf,
  startLoginFixture,
  type LoginFixture,
} from '../../fixtures/provider-login-fixture.js';

const ADDRESS = /^ {2}(http\S+)$/m;

/** Logs in as a person does: reads the address in the terminal, opens it, and continues. */
async function logIn({ server }: LoginFixture, user: CliUser, person: string) {
  const args = ['login', '--keyless', '--json', '--server', server.url, '--provider', 'okta'];
  const cli = user.start(args);
  await cli.until(() => cli.stderr().includes('Waiting for the browser'));
  const [, address = ''] = ADDRESS.exec(cli.stderr()) ?? [];
  const page = await (await fetch(await callbackOf(server, address, person))).text();
  const [, link = ''] = /<a href="([^"]+)"/.exec(page) ?? [];
  await fetch(link.replaceAll('&amp;', '&'));
  return cli.exited;
}

interface Stored {
  readonly accountId: string;
  readonly created: boolean;
}

const answerOf = ({
  code,
  stdout,
  stderr,
}: {
  code: number | null;
  stdout: string;
  stderr: string;
}) => {
  if (code !== 0) {
    throw new Error(stderr);
  }
  return JSON.parse(stdout) as Stored;
};

describe('the preset enterprise-keyless-only, from the command line', () => {
  let fixture: LoginFixture;
  let user: CliUser;

  beforeAll(async () => {
    fixture = await startLoginFixture({
      env: { SERVICE_PRESET: 'enterprise-keyless-only', AUTH_SIGNUP_PROVIDERS: '' },
    });
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    user = await createCliUser();
  });

  it('logs in without a device key, creates one account, and has access to every route', async () => {
    const first = answerOf(await logIn(fixture, user, 'anna'));
    expect(first.created).toBe(true);
    const again = answerOf(await logIn(fixture, user, 'anna'));
    expect(again).toMatchObject({ created: false, accountId: first.accountId });
    const who = await user.run(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ keyMode: 'keyless', encryptionMode: 'plain' });
    expect((await user.run(['tokens', 'add', 'push-token'])).code).toBe(0);
    expect((await user.run(['tokens', 'list'])).stdout).toContain('push-token');
  });

  it('refuses a device key without a provider, and people that the provider refuses', async () => {
    const alone = await user.run(['signup', '--server', fixture.server.url]);
    expect(alone.code).toBe(1);
    const out = await logIn(fixture, user, 'out-emil');
    expect(out.code).toBe(1);
    expect(out.stderr).toContain('not-eligible');
  });
});

describe('gatehouse login --certificate', () => {
  const directory = certificateDirectory();
  const root = TestAuthority.root(directory, 'Acme Root');
  const host = root.issue({ subject: '/CN=gate', names: ['IP:127.0.0.1'], usage: 'serverAuth' });
  const alice = root.issue({ names: ['email:alice@corp.example'] });
  const stranger = root.issue({ names: ['email:mallory@elsewhere.example'] });
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  let server: Server;
  let user: CliUser;

  beforeAll(async () => {
    server = await startServer({
      env: {
        SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'plaintext_only',
        SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
        AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
        AUTH_REQUIRED_LOGIN_PROVIDERS: 'mtls',
        SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
        SERVICE_FEATURE_AUTH_MTLS__MODE: 'direct',
        SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: '1',
        SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS: 'corp.example',
        SERVICE_FEATURE_AUTH_MTLS__TLS_PORT: '0',
        SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH: file('tls.crt', host.cert),
        SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH: file('tls.key', host.key),
        SERVICE_FEATURE_AUTH_MTLS__CA_PATH: file('ca.crt', root.cert),
      },
    });
    user = await createCliUser();
  });

  afterAll(() => server.stop());

  const flags = (own: { readonly cert: string; readonly key: string }): string[] => {
    const port = /certificates on https:[^"]*:(\d+)/.exec(server.logs())?.[1] ?? '';
    return [
      ...['login', '--json', '--server', server.url],
      ...['--certificate-url', `https://127.0.0.1:${port}`, '--ca', join(directory, 'ca.crt')],
      ...['--certificate', file('own.crt', own.cert), '--key', file('own.key', own.key)],
    ];
  };

  it('creates one account for the certificate, and has access to every route', async () => {
    const first = answerOf(await user.run(flags(alice)));
    expect(first.created).toBe(true);
    const again = answerOf(await user.run(flags(alice)));
    expect(again).toMatchObject({ created: false, accountId: first.accountId });
    const who = await user.run(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({
      keyMode: 'keyless',
      identities: [{ provider: 'mtls', login: 'alice@corp.example' }],
    });
    const session = await user.run(['tokens', 'list']);
    expect(session.code).toBe(0);
  });

  it('reports why the server refuses a certificate', async () => {
    const { code, stderr } = await user.run(flags(stranger));
    expect(code).toBe(1);
    expect(stderr).toContain('not-eligible');
  });

  it('requires both files, readable, and an address that requests certificates', async () => {
    const cases = [
      ['login', '--server', server.url, '--certificate', join(directory, 'ca.crt')],
      ['login', '--server', server.url, '--key', join(directory, 'tls.key')],
      [...flags(alice).slice(0, -1), join(directory, 'missing.key')],
      ['login', '--server', server.url, '--certificate', 'x', '--key', 'y'],
    ];
    for (const args of cases) {
      expect((await user.run(args)).code).toBe(2);
    }
  });
});
