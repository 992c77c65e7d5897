import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestAuthority } from '../../fixtures/certificates-fixture.js';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { createDatabase } from '../../fixtures/programs/services-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';

const SECRET = 'a-master-secret-that-only-tests-know-0123456789';

const user = useCliUser();

const environmentFile = async (...lines: string[]): Promise<string> => {
  const path = join(user.home, 'other.env');
  await writeFile(path, lines.join('\n'));
  return path;
};

describe('gatehouse config check', () => {
  it('describes the policy in sentences', async () => {
    const { code, stdout } = await user.run(['config', 'check']);
    expect(code).toBe(0);
    expect(stdout).toContain('Anyone who can reach this server can create an account.');
  });

  it('lists every problem and warning at once, and exits with 78', async () => {
    const env = {
      PORT: 'many',
      SERVICE_MASTER_SECRET: 'short',
      AUTH_ANONYMOUS_SIGNUP_ENABLD: '1',
      AUTH_OFFBOARDING_INTERVAL_SECONDS: '5',
    };
    const { code, stdout } = await user.run(['config', 'check', '--json'], env);
    expect(code).toBe(78);
    const answer = JSON.parse(stdout) as { problems: { variable: string }[]; warnings: string[] };
    expect(answer).toMatchObject({ ok: false, policy: [] });
    expect(answer.problems.map(({ variable }) => variable).sort()).toEqual([
      'AUTH_ANONYMOUS_SIGNUP_ENABLD',
      'PORT',
      'SERVICE_MASTER_SECRET',
    ]);
    expect(answer.warnings).toEqual([expect.stringContaining('60 is used')]);
    const inWords = await user.run(['config', 'check'], env);
    expect(inWords.code).toBe(78);
    expect(inWords.stdout).toContain('did you mean AUTH_ANONYMOUS_SIGNUP_ENABLED?');
    expect(`${stdout}${inWords.stdout}`).not.toContain('short,');
  });

  it('reports certificates and client secrets that have expired, or end soon', async () => {
    const parent = join(user.home, 'authority');
    await mkdir(parent);
    const ca = TestAuthority.root(parent, 'Root');
    const expired = ca.issue({ subject: '/CN=old.example', until: '20200102030405Z' });
    const provider = {
      ...{ id: 'okta', type: 'oidc', issuer: 'https://a.example', clientId: 'a' },
      clientSecret: 'a client secret',
      clientSecretExpiresAt: new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10),
    };
    const tokens = join(user.home, 'tokens.json');
    await writeFile(tokens, '[]');
    const env = {
      ADMIN_PORT: '9000',
      ADMIN_TOKENS_FILE: tokens,
      ADMIN_TLS_CERT_PATH: expired.certPath,
      ADMIN_TLS_KEY_PATH: expired.keyPath,
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([provider]),
      SERVICE_PUBLIC_URL: 'https://gate.example',
    };
    const { code, stdout } = await user.run(['config', 'check', '--json'], env);
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: { severity: string; code: string }[] };
    const ends = findings.filter((one) => /expire/.test(one.code));
    expect(ends.map(({ severity, code: name }) => `${severity} ${name}`)).toEqual([
      'error certificate-expired',
      'warning client-secret-expires-soon',
    ]);
    expect(await user.run(['config', 'check', '--allow-expired'], env)).toMatchObject({ code: 0 });
    const lockout = { ...env, AUTH_KEY_CHALLENGE_ENABLED: '0' };
    const locked = await user.run(['config', 'check', '--allow-expired'], lockout);
    expect(locked).toMatchObject({ code: 1 });
  });

  it('reports the files that no start can use with all other problems, as the start does', async () => {
    const text = join(user.home, 'text.pem');
    await writeFile(text, 'not a certificate');
    const mtls = 'SERVICE_FEATURE_AUTH_MTLS__';
    const env = {
      SERVICE_TLS_CERT_PATH: '/nowhere',
      SERVICE_TLS_KEY_PATH: '/nowhere',
      ...{ ADMIN_PORT: '9000', ADMIN_TOKENS_FILE: text },
      ...{ [`${mtls}ENABLED`]: 'true', [`${mtls}MODE`]: 'forwarded' },
      [`${mtls}TRUST_FORWARDED_HEADERS`]: 'true',
      [`${mtls}TRUSTED_PROXIES`]: '10.0.0.0/8',
      ...{ [`${mtls}CA_PATH`]: text, [`${mtls}CRL_PATH`]: text },
    };
    const files = [
      'ADMIN_TOKENS_FILE',
      `${mtls}CA_PATH`,
      `${mtls}CRL_PATH`,
      'SERVICE_TLS_CERT_PATH',
      'SERVICE_TLS_KEY_PATH',
    ];
    for (const [more, names] of [
      [{}, files],
      [{ PORT: 'x' }, [...files, 'PORT']],
    ] as const) {
      const check = await user.run(['config', 'check'], { ...env, ...more });
      const start = await user.run(['serve'], { ...env, ...more });
      for (const { code, stdout, stderr } of [check, start]) {
        expect(code).toBe(78);
        const reported = `${stdout}${stderr}`.matchAll(/^ {2}([A-Z_]+): /gm);
        expect([...reported].map(([, name]) => name).sort()).toEqual([...names].sort());
        expect(`${stdout}${stderr}`).toContain(
          `${mtls}CRL_PATH: names a file that cannot be used: it must have revocation lists in PEM`,
        );
      }
    }
  });

  it('refuses mode direct with an authority that is not the root, as the start does', async () => {
    const parent = join(user.home, 'authority');
    await mkdir(parent);
    const root = TestAuthority.root(parent, 'Root');
    const host = root.issue({ names: ['IP:127.0.0.1'], usage: 'serverAuth' });
    const mtls = 'SERVICE_FEATURE_AUTH_MTLS__';
    const env = {
      ...{ [`${mtls}ENABLED`]: 'true', [`${mtls}MODE`]: 'direct', [`${mtls}TLS_PORT`]: '8443' },
      ...{ [`${mtls}TLS_CERT_PATH`]: host.certPath, [`${mtls}TLS_KEY_PATH`]: host.keyPath },
      [`${mtls}CA_PATH`]: root.intermediate('Issuing').certPath,
    };
    for (const command of [['config', 'check'], ['serve']]) {
      const { code, stdout, stderr } = await user.run(command, env);
      expect(code).toBe(78);
      expect(`${stdout}${stderr}`).toContain(
        `${mtls}CA_PATH: Mode direct needs the root of the authorities`,
      );
    }
  });

  it('exits with 1 where the configuration is valid and locks users out', async () => {
    const env = { AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta', AUTH_ANONYMOUS_SIGNUP_ENABLED: '0' };
    const { code, stdout } = await user.run(['config', 'check', '--json'], env);
    expect(code).toBe(1);
    const answer = JSON.parse(stdout) as { findings: { severity: string; message: string }[] };
    expect(answer).toMatchObject({ ok: false, problems: [] });
    expect(answer.findings[0]).toMatchObject({ severity: 'error' });
    const inWords = await user.run(['config', 'check'], env);
    expect(inWords.code).toBe(1);
    expect(inWords.stdout).toContain(`Errors:\n  ${answer.findings[0]?.message}`);
  });

  it('exits with 0 where all findings are warnings and notices', async () => {
    const env = { AUTH_ANONYMOUS_SIGNUP_ENABLED: '0' };
    const { code, stdout } = await user.run(['config', 'check', '--json'], env);
    const answer = JSON.parse(stdout) as { findings: { severity: string; code: string }[] };
    expect({ code, answer }).toMatchObject({ code: 0, answer: { ok: true } });
    expect(answer.findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      'warning no-signup-method',
      'warning login-origin-unknown',
    ]);
  });

  it('checks a file without the variables of this shell', async () => {
    const file = await environmentFile('AUTH_ANONYMOUS_SIGNUP_ENABLED=false');
    const args = ['config', 'check', '--file', file];
    const { code, stdout } = await user.run(args, { PORT: 'many' });
    expect(code).toBe(0);
    expect(stdout).toContain('A new device key is refused: anonymous sign-up is off.');
  });

  it.each(['AUTH_ANONYMOUS_SIGNUP_ENABLED: false', 'set AUTH_ANONYMOUS_SIGNUP_ENABLED=false'])(
    'refuses a file with the line %j, which would count as not set',
    async (line) => {
      const file = await environmentFile(`PORT=3000\n${line}`);
      const problems = [{ variable: 'line 2', message: 'is neither NAME=value nor a comment.' }];
      const args = ['config', 'check', '--json', '--file', file];
      const { code, stdout } = await user.run(args);
      expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 78, problems });
      for (const other of [['config', 'print'], ['doctor']]) {
        const refused = await user.run([...other, '--file', file]);
        expect({ other, ...refused }).toMatchObject({
          ...{ other, code: 78 },
          stderr: expect.stringContaining('line 2: is neither NAME=value nor a comment.'),
        });
      }
    },
  );
});

describe('gatehouse config print', () => {
  it('shows every value with its source, and of secrets only whether they are set', async () => {
    const secretFile = join(user.home, 'secret');
    await writeFile(secretFile, SECRET);
    const env = {
      PORT: '4000',
      DATABASE_URL: 'postgres://gate:hush-hush@127.0.0.1/gate',
      SERVICE_MASTER_SECRET_FILE: secretFile,
      SERVICE_PRESET: 'default',
    };
    const { code, stdout } = await user.run(['config', 'print', '--json'], env);
    expect(code).toBe(0);
    const { variables } = JSON.parse(stdout) as { variables: Record<string, object> };
    expect(variables).toMatchObject({
      PORT: { value: 4000, source: 'environment' },
      HOST: { value: '0.0.0.0', source: 'default' },
      DATABASE_URL: { value: 'set', source: 'environment' },
      REDIS_URL: { value: 'not set', source: 'default' },
      SERVICE_MASTER_SECRET: { value: 'set', source: 'file' },
      AUTH_ANONYMOUS_SIGNUP_ENABLED: { value: true, source: 'preset' },
      AUTH_OFFBOARDING_ENABLED: { value: false, source: 'default' },
    });
    const inWords = await user.run(['config', 'print'], env);
    expect(inWords.stdout).toContain('PORT=4000  (environment)\n');
    expect(`${stdout}${inWords.stdout}`).not.toMatch(/hush-hush|only-tests-know/);
  });

  it('exits with 78 when no configuration is in effect', async () => {
    const { code, stdout, stderr } = await user.run(['config', 'print', '--json'], {
      PORT: 'many',
    });
    expect([code, stdout]).toEqual([78, '']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'configuration', problems: [{ variable: 'PORT' }] },
    });
  });
});

describe('gatehouse policy test', () => {
  const EXAMPLE = fileURLToPath(
    new URL('../../../config/policy-test.example.json', import.meta.url),
  );
  const env = {
    SERVICE_PRESET: 'public-provider-required',
    SERVICE_PUBLIC_URL: 'https://gate.acme.example',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
      {
        ...{ id: 'okta', type: 'oidc', issuer: 'https://acme.okta.com' },
        ...{ clientId: 'gatehouse', clientSecret: 'client-secret' },
        allow: { emailDomains: ['acme.example'], groupsAny: ['engineering'] },
      },
    ]),
  };
  const people = async (...rows: readonly unknown[]): Promise<string> => {
    const path = join(user.home, 'people.json');
    await writeFile(path, JSON.stringify(rows));
    return path;
  };
  const ADA = { provider: 'okta', subject: '1', login: 'ada', groups: ['engineering'] };
  const eligible = { eligibility: 'eligible' };

  it('exits with 0 where every outcome of the example is as expected', async () => {
    const { code, stdout } = await user.run(['policy', 'test', EXAMPLE], env);
    expect([code, stdout]).toEqual([0, expect.stringContaining('4 of 4 as expected.')]);
    const lines = [
      'ok  an engineer  okta  eligible  none  allowed  keyed',
      'ok  a contractor outside the group  okta  ineligible  group_missing  not-eligible  none',
    ];
    const found = stdout.split('\n').map((line) => line.replace(/ {2,}/g, '  '));
    expect(found).toEqual(expect.arrayContaining(lines));
  });

  it('exits with 1 and lists the differences, under the variables of --file', async () => {
    const file = await environmentFile(
      ...Object.entries(env).map(([name, value]) => `${name}='${value}'`),
      'AUTH_SIGNUP_PROVIDERS=other',
    );
    const args = ['policy', 'test', EXAMPLE, '--file', file];
    const { code, stdout } = await user.run(args, { PORT: 'many' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL +an engineer .* none \(expected keyed\)$/m);
    expect(stdout).toContain('3 of 4 as expected.');
    const json = await user.run([...args, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ ok: false, passed: 3, failed: 1 },
      people: [
        {
          name: 'an engineer',
          outcome: { eligibility: 'eligible', access: 'allowed', creates: [] },
          expected: { creates: ['keyed'] },
          differs: ['creates'],
        },
        ...[{ differs: [] }, { differs: [] }, { differs: [] }],
      ],
    });
  });

  it('exits with 2 and every problem where the file is invalid', async () => {
    const file = await people(
      { ...ADA, expect: eligible, emial: 'x' },
      { ...ADA, provider: 'other', expect: eligible },
      { provider: 'okta', expect: { eligibility: 'maybe' } },
      'unknown',
    );
    const { code, stdout, stderr } = await user.run(['policy', 'test', file], env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('[0] has a field that is not known; did you mean email?');
    expect(stderr).toContain('[1].provider must be a configured provider: okta.');
    expect(stderr).toContain('[2].subject');
    expect(stderr).toContain('[2].expect.eligibility must be "eligible" or "ineligible".');
    expect(stderr).toContain('[3] must be an object.');
  });

  it.each(['{}', '[]', 'no json'])('exits with 2 where the file is %s', async (text) => {
    const path = join(user.home, 'people.json');
    await writeFile(path, text);
    const { code, stderr } = await user.run(['policy', 'test', path], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be a JSON array of people')]);
  });

  it('exits with 78 where the configuration is invalid', async () => {
    const { code } = await user.run(['policy', 'test', EXAMPLE], { ...env, PORT: 'many' });
    expect(code).toBe(78);
  });
});

describe('gatehouse migrate', () => {
  it('does not migrate the embedded database, which the server does', async () => {
    const { code, stdout } = await user.run(['migrate']);
    expect(code).toBe(0);
    expect(stdout).toContain('migrated whenever the server starts');
  });

  it('exits with 4 when the database is unavailable, and does not print its password', async () => {
    const url = `postgres://gate:hush-hush@127.0.0.1:${await freePort()}/gate`;
    const env = { DATABASE_URL: url, SERVICE_MASTER_SECRET: SECRET };
    for (const args of [['migrate'], ['migrate', '--check']]) {
      const { code, stderr } = await user.run(args, env);
      expect(code).toBe(4);
      expect(stderr).toContain('ECONNREFUSED');
      expect(stderr).not.toContain('hush-hush');
    }
  });

  it('plans, checks and runs what is pending, once', async () => {
    const { url, drop } = await createDatabase(process.env['TEST_DATABASE_URL'] ?? '');
    const env = { DATABASE_URL: url, SERVICE_MASTER_SECRET: SECRET };
    const migrate = async (
      ...args: string[]
    ): Promise<[number | null, Record<string, string[]>]> => {
      const { code, stdout } = await user.run(['migrate', '--json', ...args], env);
      return [code, JSON.parse(stdout) as Record<string, string[]>];
    };
    const [planCode, { pending = [] }] = await migrate('--plan');
    expect(planCode).toBe(0);
    expect(pending.length).toBeGreaterThan(0);
    expect(await migrate('--check')).toMatchObject([3, { pending }]);
    for (const args of [['account', 'list'], ['audit'], ['reseal']]) {
      const { code, stderr } = await user.run(args, env);
      expect({ args, code, stderr }).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('gatehouse migrate'),
      });
    }
    expect(await migrate()).toMatchObject([0, { ran: pending }]);
    expect(await migrate()).toMatchObject([0, { ran: [] }]);
    expect(await migrate('--check')).toMatchObject([0, { pending: [] }]);
    await drop();
  });
});

it('names the administration API where no database is named', async () => {
  const { code, stderr } = await user.run(['account', 'list'], { SERVICE_DATA_DIR: user.home });
  expect({ code, stderr }).toMatchObject({
    code: 78,
    stderr: expect.stringMatching(/--admin-url/),
  });
});

it('creates no database with gatehouse reseal where none exists', async () => {
  const dataDir = join(user.home, 'nowhere');
  const { code, stderr } = await user.run(['reseal'], { SERVICE_DATA_DIR: dataDir });
  expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringContaining(dataDir) });
  expect(existsSync(dataDir)).toBe(false);
});

describe('gatehouse serve', () => {
  it('runs the server until a signal stops it', async () => {
    const store = await createStore();
    const serve = user.start(['serve'], { ...store.env, HOST: '127.0.0.1', PORT: '0' });
    await serve.until(() => serve.stdout().includes('Listening on'));
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(serve.stdout())?.[0] ?? '';
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    serve.child.kill('SIGTERM');
    expect((await serve.exited).code).toBe(0);
    await store.drop();
  });

  it('refuses to start on an invalid configuration', async () => {
    const { code, stderr } = await user.run(['serve'], { PORT: 'many' });
    expect(code).toBe(78);
    expect(stderr).toContain('PORT: must be a whole number');
  });
});
