import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { ServerStore } from '../../../src/apps/cli/account/server-store.js';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { refusalOf } from '../../helpers/client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { AccountCalls, encrypted, plain } from '../../helpers/account-calls.js';
import {
  callbackOf,
  startLoginFixture,
  type LoginFixture,
} from '../../fixtures/provider-login-fixture.js';

const ADDRESS = /^ {2}(http\S+)$/m;

/** Logs in as a person does: reads the address in the terminal, opens it, and continues. */
async function logIn(fixture: LoginFixture, user: CliUser, person: string, ...flags: string[]) {
  return browse(fixture, user, person, ['login', ...flags]);
}

async function browse(
  fixture: LoginFixture,
  user: CliUser,
  person: string,
  args: readonly string[],
) {
  const { url } = fixture.server;
  const cli = user.start([...args, '--json', '--server', url, '--provider', 'okta']);
  await cli.until(() => cli.stderr().includes('Waiting for the browser'));
  const [, address = ''] = ADDRESS.exec(cli.stderr()) ?? [];
  const page = await (await fetch(await callbackOf(fixture.server, address, person))).text();
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

describe.each([
  { preset: 'enterprise-keyless-only', signup: '', mismatch: 'encrypted-writes-disabled' },
  { preset: 'enterprise-optional-encryption', signup: 'okta', mismatch: 'content-mode-mismatch' },
])('the preset $preset, from the command line', ({ preset, signup, mismatch }) => {
  let fixture: LoginFixture;
  let user: CliUser;

  beforeAll(async () => {
    fixture = await startLoginFixture({
      env: { SERVICE_PRESET: preset, AUTH_SIGNUP_PROVIDERS: signup },
    });
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    user = await createCliUser();
  });

  it('logs in without a device key, creates one account, and has access to every route', async () => {
    const first = answerOf(await logIn(fixture, user, 'anna', '--keyless'));
    expect(first.created).toBe(true);
    const again = answerOf(await logIn(fixture, user, 'anna', '--keyless'));
    expect(again).toMatchObject({ created: false, accountId: first.accountId });
    const who = await user.run(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ keyMode: 'keyless', encryptionMode: 'plain' });
    expect((await user.run(['tokens', 'add', 'push-token'])).code).toBe(0);
    expect((await user.run(['tokens', 'list'])).stdout).toContain('push-token');
  });

  it('stores plain content that the server seals, and refuses other content', async () => {
    answerOf(await logIn(fixture, user, 'carl', '--keyless'));
    const store = new ServerStore({ XDG_CONFIG_HOME: join(user.configDirectory, '..') });
    const session = await store.session(fixture.server.url);
    const account = new AccountCalls(fixture.server, session?.token ?? '');
    const written = await account.writeSettingsV2(plain({ theme: 'dark' }), 0);
    expect(written.body).toEqual({ success: true, version: 1 });
    expect((await account.putCredential('github', plain('token'))).status).toBe(200);
    const refused = await account.writeSettingsV2(encrypted('eA=='), 1);
    expect(refusalOf(refused).code).toBe(mismatch);
  });

  it('admits a person with a device key only where such accounts are allowed', async () => {
    const { code, stdout } = await browse(fixture, user, 'bert', ['signup']);
    if (signup === '') {
      expect(code).toBe(1);
      return;
    }
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ created: true });
    const refused = await logIn(fixture, user, 'bert', '--keyless');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('restore-required');
  });

  it('refuses a device key without a provider, and people that the provider refuses', async () => {
    const alone = await user.run(['signup', '--server', fixture.server.url]);
    expect(alone.code).toBe(1);
    const out = await logIn(fixture, user, 'out-emil', '--keyless');
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
