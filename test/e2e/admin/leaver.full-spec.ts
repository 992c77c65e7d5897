import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import type { Json } from '../../helpers/client.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

/** The cache lasts so long that only a message ends a connection of the other replica. */
const ENV = {
  AUTH_ACCESS_CACHE_SECONDS: '60',
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_REQUIRED_LOGIN_PROVIDERS: '',
  SERVICE_PUBLIC_URL: '',
};
const NO_ACCOUNT = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';

let employee: CliUser;

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const first = await fixture.start({ ...ENV, ...tokens.env });
const other = await fixture.start(ENV);
const adminUrl = await adminUrlOf(first);
const administrator = await createCliUser();
beforeEach(async () => {
  employee = await createCliUser();
});
afterAll(() => fixture.close());

describe('a former employee (two replicas; needs PostgreSQL and Redis)', () => {
  const gatehouse = (args: readonly string[], token = tokens.operator) =>
    administrator.run([...args, '--admin-url', adminUrl], { GATEHOUSE_ADMIN_TOKEN: token });
  const json = async (...args: string[]): Promise<Json[]> => {
    const { code, stdout, stderr } = await gatehouse([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  };

  /** An employee who is logged in at the other replica, with an identity of this address. */
  async function employ(email: string): Promise<string> {
    const signup = await employee.run(['signup', '--server', other.url, '--json']);
    expect(signup).toMatchObject({ code: 0 });
    const { accountId } = JSON.parse(signup.stdout) as { accountId: string };
    await fixture.link([accountId]);
    const facts = { email, emailVerified: true, login: null, groups: ['staff'], memberships: {} };
    await fixture.sql.query(`UPDATE identity SET facts = $2 WHERE account_id = $1`, [
      accountId,
      facts,
    ]);
    return accountId;
  }

  it('finds an account by e-mail address, explains it and disables it; the audit trail has who and why', async () => {
    const accountId = await employ('alice@example.com');
    const watch = employee.start(['watch', '--json']);
    await watch.until(() => watch.stderr().includes('Connected'));

    const [found] = await json('account', 'find', 'Alice@example.com');
    expect(found).toMatchObject({ id: accountId, identities: [{ provider: 'people' }] });
    const [explained] = await json('policy', 'explain', accountId);
    expect(explained).toMatchObject({ isAllowed: true, providers: [{ provider: 'people' }] });
    const reason = 'left the company, ticket 4711';
    const [disabled] = await json('account', 'disable', accountId, '--reason', reason);
    expect(disabled).toMatchObject({ accountId, changed: true, actor: 'alice', reason });

    const { code, stderr } = await watch.exited;
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/disabled/i),
    });
    const after = await employee.run(['whoami']);
    expect(after.code).not.toBe(0);
    const events = await json('audit', '--since', '1h');
    expect(events.filter((event) => event['accountId'] === accountId).at(-1)).toMatchObject({
      kind: 'account-disabled',
      actor: 'alice',
      reason,
    });
    const [refused] = await json('policy', 'explain', accountId);
    expect(refused).toMatchObject({ isAllowed: false, code: 'account-disabled' });
    const [again] = await json('account', 'disable', accountId, '--reason', reason);
    expect(again).toMatchObject({ changed: false });
    await json('account', 'delete', accountId, '--reason', 'asked for it');
    const gone = await gatehouse(['account', 'find', 'alice@example.com']);
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('No account is found') });
  });

  it('ends access at once for an id in capital letters', async () => {
    const person = await fixture.person(other);
    expect(await fixture.statusOf(other, person)).toBe(200);
    const operator = new AdminCalls(adminUrl, tokens.operator);
    expect((await operator.act(person.accountId.toUpperCase(), 'disable')).status).toBe(200);
    await fixture.until('access ends', async () => (await fixture.statusOf(other, person)) !== 200);
    await first.logged(new RegExp(`"accountId":"${person.accountId}"`));
  });

  it('lists and plans through the server', async () => {
    const accountId = await employ('bob@example.com');
    expect((await json('account', 'list', '--limit', '200')).map(({ id }) => id)).toContain(
      accountId,
    );
    const file = join(administrator.home, 'new.env');
    const entry = { ...fixture.provider.entry, allow: { groupsAny: ['directors'] } };
    const lines = [
      'AUTH_REQUIRED_LOGIN_PROVIDERS=people',
      `AUTH_PROVIDERS_CONFIG_JSON='${JSON.stringify([entry])}'`,
    ];
    await writeFile(file, lines.join('\n'));
    const [plan] = await json('policy', 'plan', '--file', file);
    expect(plan).toMatchObject({ examples: expect.arrayContaining([accountId]) });
    for (const [line, named] of [
      ['AUTH_REQUIRED_LOGIN_PROVIDER=okta', 'did you mean AUTH_REQUIRED_LOGIN_PROVIDERS?'],
      ['AUTH_REQUIRED_LOGIN_PROVIDERS okta', 'line 3: '],
      ['SERVICE_PRESET=no-such-preset', 'SERVICE_PRESET: must be one of'],
    ]) {
      await writeFile(file, [...lines, line].join('\n'));
      const refused = await gatehouse(['policy', 'plan', '--file', file]);
      expect({ line, ...refused }).toMatchObject({ line, code: 78, stdout: '' });
      expect(refused.stderr).toContain(named);
    }
    await writeFile(file, [...lines, 'PORT=1', 'SERVICE_PRESET=default'].join('\n'));
    const [same] = await json('policy', 'plan', '--file', file);
    expect(same).toEqual(plan);
  });

  it('plans a preset, whose values do not replace those that the server has set', async () => {
    const file = join(administrator.home, 'preset.env');
    const lines = [
      'SERVICE_PRESET=public-provider-required',
      'AUTH_REQUIRED_LOGIN_PROVIDERS=people',
    ];
    await writeFile(file, [...lines, 'AUTH_SIGNUP_PROVIDERS=people'].join('\n'));
    const [plan] = await json('policy', 'plan', '--file', file);
    const changes = JSON.stringify(plan?.['changes']);
    expect(changes).toContain('an account must be connected to people');
    expect(changes).not.toContain('Anyone who can reach this server can create an account.');
  });

  it('plans providers whose streams have files and tokens, which stay on this computer', async () => {
    const file = join(administrator.home, 'signals.env');
    const sharedSignals = {
      transmitter: 'https://idp.example.com',
      ...{ managementToken: 'm'.repeat(40), pushTokenFile: '/no/such/file' },
    };
    const entry = { ...fixture.provider.entry, signals: { sharedSignals } };
    await writeFile(file, `AUTH_PROVIDERS_CONFIG_JSON='${JSON.stringify([entry])}'`);
    expect(await json('policy', 'plan', '--file', file)).toHaveLength(1);
  });

  it('refuses to plan with a file of providers that it cannot read', async () => {
    const file = join(administrator.home, 'unreadable.env');
    await writeFile(file, 'AUTH_PROVIDERS_CONFIG_JSON_FILE=/no/such/file');
    const refused = await gatehouse(['policy', 'plan', '--file', file]);
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('AUTH_PROVIDERS_CONFIG_JSON_FILE: names a file that'),
    });
  });

  it('refuses wrong usage, and an action that the token does not permit', async () => {
    const disable = ['account', 'disable', NO_ACCOUNT, '--reason', 'why'];
    const tries: [readonly string[], string | undefined, number, string][] = [
      [disable, undefined, 1, 'no account'],
      [disable, tokens.reader, 1, 'role'],
      [disable, 'wrong', 3, 'does not accept the token'],
      [disable, '', 3, 'no token'],
      [[...disable, '--actor', 'eve'], undefined, 2, '--actor'],
      [['account', 'disable', 'x', '--reason', 'why'], undefined, 1, 'no account'],
      [['account', 'find', ' '], undefined, 2, 'Say what to find'],
    ];
    for (const [args, token, code, message] of tries) {
      const result = await gatehouse(args, token);
      expect({ args, ...result }).toMatchObject({
        args,
        code,
        stderr: expect.stringContaining(message),
      });
      expect(result.stderr).not.toContain(tokens.operator);
    }
    const url = ['--admin-url', 'ftp://x'];
    expect((await administrator.run(['audit', ...url])).code).toBe(2);
    const file = join(administrator.home, 'token');
    await writeFile(file, `${tokens.reader}\n`);
    const read = ['audit', '--admin-url', adminUrl, '--admin-token-file', file];
    expect((await administrator.run(read)).code).toBe(0);
  });
});
